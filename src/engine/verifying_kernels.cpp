#include "engine/verifying_kernels.hpp"

#include <utility>
#include <variant>

#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "measure/measurement_module.hpp"

namespace fatune {
namespace {

const Artifact& compiled(const CompileResult& result, const std::string& purpose,
                         const std::string& source) {
  if (const std::string* log = failure_log(result)) {
    throw Error(ExitCode::gpu_failure, "the kernels that " + purpose + " do not compile",
                "kernels/" + source, *log);
  }
  return std::get<Artifact>(result);
}

}  // namespace

std::shared_ptr<const SourceBundle> read_kernel_sources(const FileTree& tree,
                                                        const std::vector<std::string>& names) {
  auto bundle = std::make_shared<SourceBundle>();
  for (const std::string& name : names) {
    SourceFile file{name, tree.read("kernels/" + name)};
    if (bundle->main.name.empty()) {
      bundle->main = std::move(file);
    } else {
      bundle->headers.push_back(std::move(file));
    }
  }
  return bundle;
}

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
  return compiled(results_.at(key_of(problem)).get(), "verify results", sources_->main.name);
}

RatesByType::RatesByType(const RatesSetup& setup, const std::vector<Problem>& problems,
                         Measure measure, Clock::duration lasts)
    : measure_(std::move(measure)), lasts_(lasts) {
  for (const Problem& problem : problems) {
    const bool has_kernels = !has_eight_bits(problem.dtype);  // their products have 16 bits
    if (setup.sources != nullptr && has_kernels && !kernels_.contains(problem.dtype)) {
      kernels_.emplace(problem.dtype,
                       compile_in_background(
                           matmul_request(setup.sources, problem.dtype, setup.arch), setup.cache));
    }
  }
}

std::optional<DeviceRates> RatesByType::of(DType dtype) {
  if (!kernels_.contains(dtype)) {
    return std::nullopt;
  }
  const auto known = known_.find(dtype);
  if (known != known_.end() && Clock::now() - known->second.at < lasts_) {
    return known->second.rates;
  }
  try {
    const DeviceRates rates =
        measure_(compiled(kernels_.at(dtype).get(), "measure rates of products and reads",
                          matmul_source_names().front()));
    known_.insert_or_assign(dtype, Known{rates, Clock::now()});
    return rates;
  } catch (const Error& error) {
    spdlog::warn("no rates of dense products and of reads: {}", error.what());
    kernels_.erase(dtype);
    return std::nullopt;
  }
}

}  // namespace fatune
