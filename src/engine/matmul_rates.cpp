#include "engine/matmul_rates.hpp"

#include <utility>
#include <variant>

#include <spdlog/spdlog.h>

#include "core/error.hpp"
#include "engine/background_compile.hpp"
#include "measure/measurement_kernels.hpp"

namespace fatune {

MatmulRates::MatmulRates(const MatmulSetup& setup, const std::vector<Problem>& problems,
                         Measure measure, Clock::duration lasts)
    : measure_(std::move(measure)), lasts_(lasts) {
  for (const Problem& problem : problems) {
    if (setup.sources != nullptr && !kernels_.contains(problem.dtype)) {
      kernels_.emplace(problem.dtype,
                       compile_in_background(
                           matmul_request(setup.sources, problem.dtype, setup.arch), setup.cache));
    }
  }
}

MatmulRate MatmulRates::measured(DType dtype) const {
  const CompileResult& result = kernels_.at(dtype).get();
  if (const std::string* log = failure_log(result)) {
    throw Error(ExitCode::gpu_failure, "the matrix multiplication kernel does not compile",
                "kernels/" + matmul_source_names().front(), *log);
  }
  return measure_(std::get<Artifact>(result));
}

std::optional<MatmulRate> MatmulRates::of(DType dtype) {
  if (!kernels_.contains(dtype)) {
    return std::nullopt;
  }
  const auto known = known_.find(dtype);
  if (known != known_.end() && Clock::now() - known->second.at < lasts_) {
    return known->second.rate;
  }
  try {
    const MatmulRate rate = measured(dtype);
    known_.insert_or_assign(dtype, Known{rate, Clock::now()});
    return rate;
  } catch (const Error& error) {
    spdlog::warn("no rate of dense products: {}", error.what());
    kernels_.erase(dtype);
    return std::nullopt;
  }
}

}  // namespace fatune
