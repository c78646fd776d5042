#include "gpu/cupti_host.hpp"

#if FATUNE_HAS_RANGE_PROFILER

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "core/error.hpp"

namespace fatune::gpu {

CuptiHost::CuptiHost(const CuptiApi& cupti, std::string chip, CuptiImage availability,
                     const std::vector<std::string>& names)
    : cupti_(cupti), chip_(std::move(chip)), availability_(std::move(availability)) {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  params.pCounterAvailabilityImage = availability_.data();
  FATUNE_CUPTI(cupti_, cuptiProfilerHostInitialize, params);
  object_ = params.pHostObject;
  for (const std::string& name : names) {
    names_.push_back(name.c_str());
  }
}

CuptiHost::~CuptiHost() {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
  params.pHostObject = object_;
  if (cupti_.cuptiProfilerHostDeinitialize(&params) != CUPTI_SUCCESS) {
    spdlog::debug("cuptiProfilerHostDeinitialize failed");
  }
}

CuptiImage CuptiHost::config() {
  add_metrics();
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = object_;
  FATUNE_CUPTI(cupti_, cuptiProfilerHostGetConfigImageSize, size);
  CuptiImage image(size.configImageSize);
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, params);
  params.pHostObject = object_;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  FATUNE_CUPTI(cupti_, cuptiProfilerHostGetConfigImage, params);
  return image;
}

int CuptiHost::pass_count(CuptiImage& config) const {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, params);
  params.configImageSize = config.size();
  params.pConfigImage = config.data();
  FATUNE_CUPTI(cupti_, cuptiProfilerHostGetNumOfPasses, params);
  return static_cast<int>(params.numOfPasses);
}

std::vector<double> CuptiHost::values(const CuptiImage& counter_data, std::size_t range) {
  std::vector<double> result(names_.size());
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, params);
  params.pHostObject = object_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names_.data();
  params.numMetrics = names_.size();
  params.pMetricValues = result.data();
  FATUNE_CUPTI(cupti_, cuptiProfilerHostEvaluateToGpuValues, params);
  return result;
}

void CuptiHost::add_metrics() {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, params);
  params.pHostObject = object_;
  params.ppMetricNames = names_.data();
  params.numMetrics = names_.size();
  const CUptiResult result = cupti_.cuptiProfilerHostConfigAddMetrics(&params);
  if (result != CUPTI_SUCCESS) {
    throw_unknown_metric();
    throw cupti_error(cupti_, result, "cuptiProfilerHostConfigAddMetrics");
  }
}

// Throws if a metric is unknown. CUPTI refuses all of them without saying which one it does not
// know.
void CuptiHost::throw_unknown_metric() const {
  for (const char* const name : names_) {
    FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, params);
    params.pHostObject = object_;
    params.pMetricName = name;
    if (cupti_.cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) {
      throw Error(ExitCode::gpu_failure, fmt::format("CUPTI has no metric '{}' for this GPU", name),
                  {}, "'ncu --query-metrics' lists the available metrics");
    }
  }
}

}  // namespace fatune::gpu

#endif
