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

/// The half of CUPTI's profiler that needs no GPU. It turns metric names into the configuration of
/// the hardware counters, and counts into values. All functions throw cupti_error().
class CuptiHost {
 public:
  /// `chip`: the name of the GPU's chip. `availability`: the counters that are available on it.
  /// `cupti` and `names` must outlive this.
  CuptiHost(const CuptiApi& cupti, std::string chip, CuptiImage availability,
            const std::vector<std::string>& names);
  CuptiHost(const CuptiHost&) = delete;
  CuptiHost& operator=(const CuptiHost&) = delete;
  ~CuptiHost();

  /// The names as C strings, for CUPTI, which does not write to them.
  [[nodiscard]] std::vector<const char*>& names() noexcept { return names_; }

  /// The configuration: what is counted, and in which passes. Also throws Error(gpu_failure), which
  /// names the metric, if the chip does not have one of them. Must be called only once.
  [[nodiscard]] CuptiImage config();
  [[nodiscard]] int pass_count(CuptiImage& config) const;

  /// The values of all metrics, in the order of the names, in one range of decoded counter data.
  [[nodiscard]] std::vector<double> values(const CuptiImage& counter_data, std::size_t range);

 private:
  void add_metrics();
  void throw_unknown_metric() const;

  const CuptiApi& cupti_;
  // CUPTI's object keeps using both (seen with CUDA 13.0: it crashes once they are gone).
  std::string chip_;
  CuptiImage availability_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
  std::vector<const char*> names_;
};

}  // namespace fatune::gpu

#endif
