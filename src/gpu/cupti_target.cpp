#include "gpu/cupti_target.hpp"

#if FATUNE_HAS_RANGE_PROFILER

#include <spdlog/spdlog.h>

#include "core/error.hpp"

namespace fatune::gpu {
namespace {

struct Hindrance {
  CUpti_Profiler_Support_Level CUpti_Profiler_DeviceSupported_Params::*flag;
  const char* text;
};

constexpr Hindrance kHindrances[] = {
    {&CUpti_Profiler_DeviceSupported_Params::architecture, "CUPTI does not know its architecture"},
    {&CUpti_Profiler_DeviceSupported_Params::sli, "SLI is on"},
    {&CUpti_Profiler_DeviceSupported_Params::vGpu, "it is a virtual GPU without profiling"},
    {&CUpti_Profiler_DeviceSupported_Params::confidentialCompute, "confidential computing is on"},
    {&CUpti_Profiler_DeviceSupported_Params::cmp, "it is a mining processor"},
    {&CUpti_Profiler_DeviceSupported_Params::wsl, "the Windows subsystem does not allow it"},
};

std::string hindrance(const CUpti_Profiler_DeviceSupported_Params& support) {
  for (const Hindrance& known : kHindrances) {
    if (support.*known.flag != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
      return known.text;
    }
  }
  return "CUPTI does not say why";
}

void initialise(const CuptiApi& cupti) {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Initialize, params);
  FATUNE_CUPTI(cupti, cuptiProfilerInitialize, params);
}

}  // namespace

void check_counters_supported(const CuptiApi& cupti, int device_ordinal) {
  initialise(cupti);
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, params);
  params.cuDevice = device_ordinal;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  FATUNE_CUPTI(cupti, cuptiProfilerDeviceSupported, params);
  if (params.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    throw Error(ExitCode::gpu_failure,
                "this GPU's hardware counters cannot be read: " + hindrance(params));
  }
}

std::string chip_name(const CuptiApi& cupti, int device_ordinal) {
  FATUNE_CUPTI_PARAMS(CUpti_Device_GetChipName, params);
  params.deviceIndex = static_cast<std::size_t>(device_ordinal);
  FATUNE_CUPTI(cupti, cuptiDeviceGetChipName, params);
  return params.pChipName;
}

CuptiImage counter_availability(const CuptiApi& cupti, CUcontext context) {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, params);
  params.ctx = context;
  FATUNE_CUPTI(cupti, cuptiProfilerGetCounterAvailability, params);
  CuptiImage image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  FATUNE_CUPTI(cupti, cuptiProfilerGetCounterAvailability, params);
  return image;
}

CuptiTarget::CuptiTarget(const CuptiApi& cupti, CUcontext context) : cupti_(cupti) {
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable, params);
  params.ctx = context;
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerEnable, params);
  object_ = params.pRangeProfilerObject;
}

CuptiTarget::~CuptiTarget() {
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable, params);
  params.pRangeProfilerObject = object_;
  if (cupti_.cuptiRangeProfilerDisable(&params) != CUPTI_SUCCESS) {
    spdlog::debug("cuptiRangeProfilerDisable failed");
  }
}

CuptiImage CuptiTarget::counter_data(std::vector<const char*>& names, int ranges) const {
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = static_cast<std::size_t>(ranges);
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerGetCounterDataSize, size);
  CuptiImage image(size.counterDataSize);
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
  params.pRangeProfilerObject = object_;
  params.counterDataSize = image.size();
  params.pCounterData = image.data();
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerCounterDataImageInitialize, params);
  return image;
}

void CuptiTarget::configure(const CuptiImage& config, CuptiImage& counter_data, int ranges) const {
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, params);
  params.pRangeProfilerObject = object_;
  params.pConfig = config.data();
  params.configSize = config.size();
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.range = CUPTI_AutoRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = static_cast<std::size_t>(ranges);
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.targetNestingLevel = 1;
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerSetConfig, params);
}

void CuptiTarget::start() const {
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Start, params);
  params.pRangeProfilerObject = object_;
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerStart, params);
}

bool CuptiTarget::stop() const {
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, params);
  params.pRangeProfilerObject = object_;
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerStop, params);
  return params.isAllPassSubmitted != 0;
}

std::size_t CuptiTarget::decode(const CuptiImage& counter_data) const {
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, params);
  params.pRangeProfilerObject = object_;
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerDecodeData, params);
  FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
  info.pCounterDataImage = counter_data.data();
  info.counterDataImageSize = counter_data.size();
  FATUNE_CUPTI(cupti_, cuptiRangeProfilerGetCounterDataInfo, info);
  return info.numTotalRanges;
}

}  // namespace fatune::gpu

#endif
