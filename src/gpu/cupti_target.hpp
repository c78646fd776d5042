#pragma once

// Internal to src/gpu.
#include "gpu/cupti_host.hpp"

#if FATUNE_HAS_RANGE_PROFILER

namespace fatune::gpu {

/// Throws Error(gpu_failure), with the reason, if the counters of this device cannot be read at
/// all. Also initialises CUPTI.
void check_counters_supported(const CuptiApi& cupti, int device_ordinal);

/// CUPTI's name for the device's chip: "GH100". Throws cupti_error().
[[nodiscard]] std::string chip_name(const CuptiApi& cupti, int device_ordinal);

/// The counters that are available in this context. Throws cupti_error().
[[nodiscard]] CuptiImage counter_availability(const CuptiApi& cupti, CUcontext context);

/// The half of CUPTI's profiler that runs on the GPU. The profiler is enabled while this lives. All
/// functions throw cupti_error().
class CuptiTarget {
 public:
  /// `cupti` and `context` must outlive this.
  CuptiTarget(const CuptiApi& cupti, CUcontext context);
  CuptiTarget(const CuptiTarget&) = delete;
  CuptiTarget& operator=(const CuptiTarget&) = delete;
  ~CuptiTarget();

  /// A buffer for the counts of `ranges` ranges.
  [[nodiscard]] CuptiImage counter_data(std::vector<const char*>& names, int ranges) const;
  /// Sets what is counted. Each launch is a range, and the caller repeats the launches for every
  /// pass. Both images must live until decode() has returned.
  void configure(const CuptiImage& config, CuptiImage& counter_data, int ranges) const;
  void start() const;
  /// Ends a pass. Returns true if it was the last one.
  [[nodiscard]] bool stop() const;
  /// Decodes the counts. Returns the number of ranges that were counted.
  [[nodiscard]] std::size_t decode(const CuptiImage& counter_data) const;

 private:
  const CuptiApi& cupti_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
};

}  // namespace fatune::gpu

#endif
