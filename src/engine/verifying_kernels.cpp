#include "engine/verifying_kernels.hpp"

#include <variant>

#include "core/error.hpp"
#include "engine/background_compile.hpp"
#include "measure/measurement_kernels.hpp"

namespace fatune {

VerifyingKernels::VerifyingKernels(std::shared_ptr<const SourceBundle> sources,
                                   const std::vector<Problem>& problems, Arch arch,
                                   CubinCache* cache)
    : sources_(std::move(sources)) {
  for (const Problem& problem : problems) {
    std::shared_future<CompileResult>& result = results_[key_of(problem)];
    if (!result.valid()) {
      result = compile_in_background(measurement_request(sources_, problem, arch), cache);
    }
  }
}

const Artifact& VerifyingKernels::of(const Problem& problem) const {
  const CompileResult& result = results_.at(key_of(problem)).get();
  if (const std::string* log = failure_log(result)) {
    throw Error(ExitCode::gpu_failure, "the kernels that verify results do not compile",
                "kernels/" + sources_->main.name, *log);
  }
  return std::get<Artifact>(result);
}

}  // namespace fatune
