#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/context.hpp"

namespace fatune::gpu {

/// The work that is run while counters count. The hardware has fewer counters than there are
/// metrics, so all of it is run once in every pass, and must do the same each time.
struct CountedWork {
  std::function<void()> before_pass;  ///< nothing is counted yet
  std::function<void()> run;          ///< what counts; it must not wait, and launch one kernel
};

/// Hardware counters of kernels that this process launches, by CUPTI's range profiler. Each launch
/// is a range of its own, measured from kernel start to kernel end: CUPTI's ranges of the user's
/// own are some microseconds too long (they count the launch).
///
/// While one lives, every launch in the context may take longer, counted or not.
class RangeCounters {
 public:
  /// `context` is current on the calling thread, and outlives this. `metrics`: names as Nsight
  /// Compute has them ("gpu__time_duration.sum"). Throws Error(gpu_failure): no CUPTI, a toolkit
  /// without range profiler at build time, a device or a metric that it does not know, no
  /// permission, counters that are in use.
  RangeCounters(const Context& context, std::vector<std::string> metrics);
  RangeCounters(const RangeCounters&) = delete;
  RangeCounters& operator=(const RangeCounters&) = delete;
  ~RangeCounters();

  /// How often the work is run for one value of each metric.
  [[nodiscard]] int passes() const noexcept;

  /// The metrics of `runs` runs that follow each other, by run and then in the order of the names,
  /// in base units (ns, bytes, cycles, percent). In each pass `work.before_pass` is called, then
  /// `work.run` `runs` times. Throws as the constructor does, and what the work throws.
  [[nodiscard]] std::vector<std::vector<double>> count(int runs, const CountedWork& work);

 private:
  class Session;
  std::unique_ptr<Session> session_;
};

}  // namespace fatune::gpu
