// CUPTI's range profiler without hardware (README.md).
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

struct CUpti_Profiler_Host_Object {
  std::size_t metrics = 0;
};

struct CUpti_RangeProfiler_Object {
  CUpti_RangeProfiler_SetConfig_Params config{};
  bool configured = false;
  bool started = false;
  long long launches_before = 0;
  int passes_done = 0;
};

namespace {

constexpr std::size_t kImageBytes = 64;

/// The content of a counter data image.
struct CounterData {
  std::size_t ranges = 0;
};

long live_objects = 0;

std::string setting(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : value;
}

int passes() { return std::atoi(setting("FATUNE_FAKE_CUPTI_PASSES", "2").c_str()); }

long long launches() {
  static void* const driver = dlopen(setting("FATUNE_LIBCUDA", "").c_str(), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<long long (*)()>(dlsym(driver, "fatune_fake_launches"))();
}

CUptiResult scripted(const char* function) {
  const std::string failure = setting("FATUNE_FAKE_CUPTI_FAIL", "");
  const std::size_t equals = failure.find('=');
  return equals != std::string::npos && failure.substr(0, equals) == function
             ? static_cast<CUptiResult>(std::atoi(failure.c_str() + equals + 1))
             : CUPTI_SUCCESS;
}

bool known(const char* metric) { return std::strstr(metric, "no_such") == nullptr; }

}  // namespace

/// Returns from the function if it is scripted to fail, or was given a block of the wrong size.
#define FAKE_GATE(function, Type)                                                                \
  if (const CUptiResult failure = scripted(#function); failure != CUPTI_SUCCESS) return failure; \
  if (params->structSize != Type##_Params_STRUCT_SIZE) return CUPTI_ERROR_INVALID_PARAMETER

extern "C" {

long fatune_fake_cupti_live() { return live_objects; }

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == CUPTI_ERROR_HARDWARE_BUSY         ? "CUPTI_ERROR_HARDWARE_BUSY"
                                                        : "CUPTI_ERROR_UNKNOWN";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  FAKE_GATE(cuptiProfilerInitialize, CUpti_Profiler_Initialize);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  FAKE_GATE(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported);
  const bool confidential = setting("FATUNE_FAKE_CUPTI_CONFIDENTIAL", "0") == "1";
  for (auto* flag : {&params->isSupported, &params->architecture, &params->sli, &params->vGpu,
                     &params->confidentialCompute, &params->cmp, &params->wsl}) {
    *flag = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  }
  if (confidential) {
    params->isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    params->confidentialCompute = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(
    CUpti_Profiler_GetCounterAvailability_Params* params) {
  FAKE_GATE(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability);
  params->counterAvailabilityImageSize = kImageBytes;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  FAKE_GATE(cuptiDeviceGetChipName, CUpti_Device_GetChipName);
  params->pChipName = "FK100";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  FAKE_GATE(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize);
  if (std::strcmp(params->pChipName, "FK100") != 0 ||
      params->pCounterAvailabilityImage == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  params->pHostObject = new CUpti_Profiler_Host_Object;
  ++live_objects;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  FAKE_GATE(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize);
  delete params->pHostObject;
  --live_objects;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetMetricProperties(
    CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  FAKE_GATE(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties);
  return known(params->pMetricName) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_METRIC_NAME;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  FAKE_GATE(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics);
  params->pHostObject->metrics = params->numMetrics;
  return std::all_of(params->ppMetricNames, params->ppMetricNames + params->numMetrics, known)
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_METRIC_NAME;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  FAKE_GATE(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize);
  params->configImageSize = kImageBytes;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  FAKE_GATE(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage);
  std::memset(params->pConfigImage, 1, params->configImageSize);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  FAKE_GATE(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses);
  params->numOfPasses = static_cast<std::size_t>(passes());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  FAKE_GATE(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues);
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    params->pMetricValues[i] =
        1000.0 * static_cast<double>(i + 1) + static_cast<double>(params->rangeIndex + 1);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  FAKE_GATE(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable);
  params->pRangeProfilerObject = new CUpti_RangeProfiler_Object;
  ++live_objects;
  return params->ctx == nullptr ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  FAKE_GATE(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable);
  delete params->pRangeProfilerObject;
  --live_objects;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  FAKE_GATE(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize);
  params->counterDataSize = kImageBytes;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  FAKE_GATE(cuptiRangeProfilerCounterDataImageInitialize,
            CUpti_RangeProfiler_CounterDataImage_Initialize);
  const CounterData none;
  std::memcpy(params->pCounterData, &none, sizeof none);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  FAKE_GATE(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig);
  params->pRangeProfilerObject->config = *params;
  params->pRangeProfilerObject->configured = true;
  return params->range == CUPTI_AutoRange && params->replayMode == CUPTI_UserReplay
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  FAKE_GATE(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start);
  CUpti_RangeProfiler_Object& profiler = *params->pRangeProfilerObject;
  if (!profiler.configured || profiler.started) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  profiler.started = true;
  profiler.launches_before = launches();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  FAKE_GATE(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop);
  CUpti_RangeProfiler_Object& profiler = *params->pRangeProfilerObject;
  if (!profiler.started) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  profiler.started = false;
  const auto ranges = static_cast<std::size_t>(launches() - profiler.launches_before);
  const CounterData counted{std::min(ranges, profiler.config.maxRangesPerPass)};
  std::memcpy(profiler.config.pCounterDataImage, &counted, sizeof counted);
  params->isAllPassSubmitted = ++profiler.passes_done == passes() ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  FAKE_GATE(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData);
  return params->pRangeProfilerObject->passes_done == passes() ? CUPTI_SUCCESS
                                                               : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  FAKE_GATE(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo);
  CounterData counted;
  std::memcpy(&counted, params->pCounterDataImage, sizeof counted);
  params->numTotalRanges = counted.ranges;
  return CUPTI_SUCCESS;
}

}  // extern "C"
