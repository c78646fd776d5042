#include "gpu/range_counters.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "gpu/cupti_api.hpp"

namespace fatune::gpu {

#if FATUNE_HAS_RANGE_PROFILER

/// Bytes in CUPTI's own format.
using CuptiImage = std::vector<std::uint8_t>;

/// The half of CUPTI's profiler that needs no GPU. It turns metric names into the configuration of
/// the hardware counters, and counts into values. All functions throw cupti_error().
class CuptiHost {
 public:
  /// `chip`: the name of the GPU's chip. `availability`: the counters that are available on it.
  /// `cupti` and `names` must outlive this.
  CuptiHost(const CuptiApi& cupti, std::string chip, CuptiImage availability,
            const std::vector<std::string>& names)
      : cupti_(cupti),
        chip_(std::move(chip)),
        availability_(std::move(availability)),
        names_(mapped(names, &std::string::c_str)) {
    FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, params);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip_.c_str();
    params.pCounterAvailabilityImage = availability_.data();
    FATUNE_CUPTI(cupti_, cuptiProfilerHostInitialize, params);
    object_ = params.pHostObject;
  }

  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;
  ~CuptiHost() {
    FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
    params.pHostObject = object_;
    if (cupti_.cuptiProfilerHostDeinitialize(&params) != CUPTI_SUCCESS) {
      spdlog::debug("cuptiProfilerHostDeinitialize failed");
    }
  }

  /// The names as C strings, for CUPTI, which does not write to them.
  [[nodiscard]] std::vector<const char*>& names() noexcept { return names_; }

  /// The configuration: what is counted, and in which passes. Also throws Error(gpu_failure), which
  /// names the metric, if the chip does not have one of them. Must be called only once.
  [[nodiscard]] CuptiImage config() {
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

  [[nodiscard]] int pass_count(CuptiImage& config) const {
    FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, params);
    params.configImageSize = config.size();
    params.pConfigImage = config.data();
    FATUNE_CUPTI(cupti_, cuptiProfilerHostGetNumOfPasses, params);
    return static_cast<int>(params.numOfPasses);
  }

  /// The values of all metrics, in the order of the names, in one range of decoded counter data.
  [[nodiscard]] std::vector<double> values(const CuptiImage& counter_data, std::size_t range) {
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

 private:
  void add_metrics() {
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
  void throw_unknown_metric() const {
    for (const char* const name : names_) {
      FATUNE_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties, params);
      params.pHostObject = object_;
      params.pMetricName = name;
      if (cupti_.cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) {
        throw Error(ExitCode::gpu_failure,
                    fmt::format("CUPTI has no metric '{}' for this GPU", name), {},
                    "'ncu --query-metrics' lists the available metrics");
      }
    }
  }

  const CuptiApi& cupti_;
  // CUPTI's object keeps using both (seen with CUDA 13.0: it crashes once they are gone).
  std::string chip_;
  CuptiImage availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
  std::vector<const char*> names_;
};

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

/// Throws Error(gpu_failure), with the reason, if the counters of this device cannot be read at
/// all. Also initialises CUPTI.
void check_counters_supported(const CuptiApi& cupti, int device_ordinal) {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_Initialize, initialisation);
  FATUNE_CUPTI(cupti, cuptiProfilerInitialize, initialisation);
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported, params);
  params.cuDevice = device_ordinal;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  FATUNE_CUPTI(cupti, cuptiProfilerDeviceSupported, params);
  if (params.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
    throw Error(ExitCode::gpu_failure,
                "this GPU's hardware counters cannot be read: " + hindrance(params));
  }
}

/// CUPTI's name for the device's chip: "GH100". Throws cupti_error().
std::string chip_name(const CuptiApi& cupti, int device_ordinal) {
  FATUNE_CUPTI_PARAMS(CUpti_Device_GetChipName, params);
  params.deviceIndex = static_cast<std::size_t>(device_ordinal);
  FATUNE_CUPTI(cupti, cuptiDeviceGetChipName, params);
  return params.pChipName;
}

/// The counters that are available in this context. Throws cupti_error().
CuptiImage counter_availability(const CuptiApi& cupti, CUcontext context) {
  FATUNE_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, params);
  params.ctx = context;
  FATUNE_CUPTI(cupti, cuptiProfilerGetCounterAvailability, params);
  CuptiImage image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  FATUNE_CUPTI(cupti, cuptiProfilerGetCounterAvailability, params);
  return image;
}

}  // namespace

/// The half of CUPTI's profiler that runs on the GPU. The profiler is enabled while this lives. All
/// functions throw cupti_error().
class CuptiTarget {
 public:
  /// `cupti` and `context` must outlive this.
  CuptiTarget(const CuptiApi& cupti, CUcontext context) : cupti_(cupti) {
    FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Enable, params);
    params.ctx = context;
    FATUNE_CUPTI(cupti_, cuptiRangeProfilerEnable, params);
    object_ = params.pRangeProfilerObject;
  }

  CuptiTarget(const CuptiTarget&) = delete;
  CuptiTarget& operator=(const CuptiTarget&) = delete;
  ~CuptiTarget() {
    FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Disable, params);
    params.pRangeProfilerObject = object_;
    if (cupti_.cuptiRangeProfilerDisable(&params) != CUPTI_SUCCESS) {
      spdlog::debug("cuptiRangeProfilerDisable failed");
    }
  }

  /// A buffer for the counts of `ranges` ranges.
  [[nodiscard]] CuptiImage counter_data(std::vector<const char*>& names, int ranges) const {
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

  /// Sets what is counted. Each launch is a range, and the caller repeats the launches for every
  /// pass. Both images must live until decode() has returned.
  void configure(const CuptiImage& config, CuptiImage& counter_data, int ranges) const {
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

  void start() const {
    FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Start, params);
    params.pRangeProfilerObject = object_;
    FATUNE_CUPTI(cupti_, cuptiRangeProfilerStart, params);
  }

  /// Ends a pass. Returns true if it was the last one.
  [[nodiscard]] bool stop() const {
    FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, params);
    params.pRangeProfilerObject = object_;
    FATUNE_CUPTI(cupti_, cuptiRangeProfilerStop, params);
    return params.isAllPassSubmitted != 0;
  }

  /// Decodes the counts. Returns the number of ranges that were counted.
  [[nodiscard]] std::size_t decode(const CuptiImage& counter_data) const {
    FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, params);
    params.pRangeProfilerObject = object_;
    FATUNE_CUPTI(cupti_, cuptiRangeProfilerDecodeData, params);
    FATUNE_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = counter_data.data();
    info.counterDataImageSize = counter_data.size();
    FATUNE_CUPTI(cupti_, cuptiRangeProfilerGetCounterDataInfo, info);
    return info.numTotalRanges;
  }

 private:
  const CuptiApi& cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

class RangeCounters::Session {
 public:
  Session(const Context& context, std::vector<std::string> metrics)
      : context_(context), metrics_(std::move(metrics)) {}

  [[nodiscard]] std::vector<std::vector<double>> count(int runs, const CountedWork& work) {
    const int launches = runs * work.launches;
    CuptiImage counter_data = target_.counter_data(host_.names(), launches);
    target_.configure(config_, counter_data, launches);
    run_passes(runs, work);
    const auto expected = static_cast<std::size_t>(launches);
    if (const std::size_t found = target_.decode(counter_data); found != expected) {
      throw Error(ExitCode::gpu_failure,
                  fmt::format("CUPTI counted {} launches instead of {}", found, launches));
    }
    return mapped(std::views::iota(1, runs + 1), [&](int run) {
      return host_.values(counter_data, static_cast<std::size_t>(run * work.launches - 1));
    });
  }

 private:
  [[nodiscard]] static CUcontext raw(const Context& context) {
    return static_cast<CUcontext>(context.get());
  }

  [[nodiscard]] static CuptiApi ready_cupti(const Context& context) {
    CuptiApi cupti = load_cupti();
    check_counters_supported(cupti, context.device_ordinal());
    return cupti;
  }

  void run_passes(int runs, const CountedWork& work) const {
    // The limit keeps a count that never finishes from hanging.
    const int most = 2 * passes_ + 1;
    for (int pass = 0; pass < most; ++pass) {
      if (run_pass(runs, work)) {
        return;
      }
    }
    throw Error(ExitCode::gpu_failure,
                fmt::format("CUPTI needs more than the {} passes that it announced", passes_));
  }

  [[nodiscard]] bool run_pass(int runs, const CountedWork& work) const {
    work.before_pass();
    target_.start();
    for (int run = 0; run < runs; ++run) {
      work.run();
    }
    context_.synchronize();
    return target_.stop();
  }

  const Context& context_;
  std::vector<std::string> metrics_;
  CuptiApi cupti_ = ready_cupti(context_);
  CuptiHost host_{cupti_, chip_name(cupti_, context_.device_ordinal()),
                  counter_availability(cupti_, raw(context_)), metrics_};
  CuptiImage config_ = host_.config();
  int passes_ = host_.pass_count(config_);
  CuptiTarget target_{cupti_, raw(context_)};
};

#else

class RangeCounters::Session {
 public:
  Session(const Context&, const std::vector<std::string>&) {
    throw Error(ExitCode::gpu_failure,
                "fatune was built with a CUDA toolkit whose CUPTI has no range profiler", {},
                "build it with a toolkit of 12.6 or newer that has CUPTI's headers");
  }
  [[nodiscard]] std::vector<std::vector<double>> count(int, const CountedWork&) { return {}; }
};

#endif

RangeCounters::RangeCounters(const Context& context, std::vector<std::string> metrics)
    : session_(std::make_unique<Session>(context, std::move(metrics))) {}

RangeCounters::~RangeCounters() = default;

std::vector<std::vector<double>> RangeCounters::count(int runs, const CountedWork& work) {
  return session_->count(runs, work);
}

}  // namespace fatune::gpu
