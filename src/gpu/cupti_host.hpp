#pragma once

// Internal to src/gpu.
#include "gpu/cupti_api.hpp"

#if FATUNE_HAS_RANGE_PROFILER

#include <cstdint>
#include <string>
#include <vector>

namespace fatune::gpu {

/// Bytes in CUPTI's own format.
using CuptiImage = std::vector<std::uint8_t>;

/// The half of CUPTI's profiler that needs no GPU: turns the names of metrics into what the
/// hardware is to count, and counts into values. All throw cupti_error().
class CuptiHost {
 public:
  /// For GPUs of this chip, of whose counters those in `availability` can be had. `cupti` and
  /// `names` must outlive it.
  CuptiHost(const CuptiApi& cupti, std::string chip, CuptiImage availability,
            const std::vector<std::string>& names);
  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;
  ~CuptiHost();

  /// As C strings, for CUPTI, which does not write to them.
  [[nodiscard]] std::vector<const char*>& names() noexcept { return names_; }

  /// The configuration of what is counted, and in which passes. Also throws Error(gpu_failure) that
  /// names a metric which this chip does not have. To be called once.
  [[nodiscard]] CuptiImage config();
  [[nodiscard]] int pass_count(CuptiImage& config) const;

  /// The values of all metrics, in the order of the names, in one range of decoded counter data.
  [[nodiscard]] std::vector<double> values(const CuptiImage& counter_data, std::size_t range);

 private:
  void add_metrics();
  void throw_unknown_metric() const;

  const CuptiApi& cupti_;
  // CUPTI's object goes on using both (seen with CUDA 13.0: it crashes when they are gone).
  std::string chip_;
  CuptiImage availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
  std::vector<const char*> names_;
};

}  // namespace fatune::gpu

#endif
