#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/context.hpp"

namespace fatune::gpu {

/// The work to count. The hardware has fewer counters than there are metrics, so the work is run
/// once in every pass, and must do the same each time.
struct CountedWork {
  std::function<void()> before_pass;  ///< runs before each pass and is not counted
  std::function<void()> run;          ///< launches kernels; must not wait
  int launches = 1;                   ///< how many kernels `run` launches; the last is counted
};

/// Reads hardware counters of kernels that this process launches, with CUPTI's range profiler. Each
/// launch is its own range, measured from kernel start to kernel end. CUPTI's user-defined ranges
/// are some microseconds too long, because they include the launch.
///
/// While an object lives, every launch in the context may take longer, counted or not.
class RangeCounters {
 public:
  /// `context` must be current on the calling thread and outlive this. `metrics`: names as in
  /// Nsight Compute ("gpu__time_duration.sum"). Throws Error(gpu_failure) if there is no CUPTI, if
  /// the toolkit at build time had no range profiler, if CUPTI does not know the device or a
  /// metric, if there is no permission, or if the counters are in use.
  RangeCounters(const Context& context, std::vector<std::string> metrics);
  RangeCounters(const RangeCounters&) = delete;
  RangeCounters& operator=(const RangeCounters&) = delete;
  ~RangeCounters();

  /// Counts `runs` consecutive runs. Returns the metrics by run and then in the order of the names,
  /// in base units (ns, bytes, cycles, percent). In each pass `work.before_pass` is called once,
  /// then `work.run` `runs` times. Throws what the constructor throws, and what the work throws.
  [[nodiscard]] std::vector<std::vector<double>> count(int runs, const CountedWork& work);

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

/// The places where CUPTI's library may be, best first: beside the NVRTC that this program uses and
/// in the folders that toolkits and NVIDIA's PyPI wheels have for it, then by the loader's search
/// path, then in /usr/local/cuda*. Some are bare names; none need exist.
[[nodiscard]] std::vector<std::filesystem::path> cupti_candidates(
    const std::filesystem::path& nvrtc_folder);

}  // namespace fatune::gpu
