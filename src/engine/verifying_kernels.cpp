#include "engine/verifying_kernels.hpp"

#include <variant>

#include "core/error.hpp"
#include "measure/measurement_kernels.hpp"

namespace fatune {

VerifyingKernels::VerifyingKernels(std::shared_ptr<const SourceBundle> sources,
                                   const std::vector<Problem>& problems, Arch arch,
                                   CubinCache* cache)
    : sources_(std::move(sources)) {
  for (const Problem& problem : problems) {
    std::shared_future<CompileResult>& result = results_[key_of(problem)];
    if (!result.valid()) {
      result =
          std::async(std::launch::async, [request = measurement_request(sources_, problem, arch),
                                          cache] {
            return compile(request, cache);
          }).share();
    }
  }
}

const Artifact& VerifyingKernels::of(const Problem& problem) const {
  const CompileResult& result = results_.at(key_of(problem)).get();
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw Error(ExitCode::gpu_failure, "the kernels that verify results do not compile",
                "kernels/" + sources_->main.name, failed->log);
  }
  return std::get<Artifact>(result);
}

std::shared_ptr<const SourceBundle> read_measurement_sources(const FileTree& tree) {
  auto bundle = std::make_shared<SourceBundle>();
  for (const std::string& name : measurement_source_names()) {
    SourceFile file{name, tree.read("kernels/" + name)};
    if (bundle->main.name.empty()) {
      bundle->main = std::move(file);
    } else {
      bundle->headers.push_back(std::move(file));
    }
  }
  return bundle;
}

}  // namespace fatune
