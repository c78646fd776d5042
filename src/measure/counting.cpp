#include "measure/counting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/ranges.hpp"
#include "gpu/profiler.hpp"
#include "gpu/range_counters.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using RunCounts = std::map<std::string, double>;

// The chip is kept busy before counting. Sweeps sample a chip that has been busy for seconds, at
// the clock that its power limit leaves; a chip at rest starts at a higher clock.
constexpr milliseconds kFirstWarmUp{300};  // until the clock has settled
constexpr milliseconds kNextWarmUp{50};    // after the short pause between two passes

void queue_cold_run(const KernelLaunch& kernel, const CountingParts& parts) {
  parts.queue_flush();
  kernel.queue(parts.stream);
}

// Runs the kernel for `time`. One run is always queued ahead, so that the chip never rests; the
// last two are waited for.
void keep_busy(const KernelLaunch& kernel, const CountingParts& parts, milliseconds time) {
  const std::array<gpu::Event, 2> done;
  const Clock::time_point end = Clock::now() + time;
  queue_cold_run(kernel, parts);
  done[0].record(parts.stream);
  for (std::size_t i = 1; Clock::now() < end; ++i) {
    queue_cold_run(kernel, parts);
    done.at(i % 2).record(parts.stream);
    done.at((i - 1) % 2).synchronize();
  }
  parts.stream.synchronize();
}

// The values by metric. A ratio whose denominator is 0 has no value, and is left out.
RunCounts named(const std::vector<std::string>& metrics, const std::vector<double>& values) {
  RunCounts counts;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (std::isfinite(values.at(i))) {
      counts.emplace(metrics[i], values[i]);
    }
  }
  return counts;
}

std::vector<RunCounts> count_here(const KernelLaunch& kernel, const CountRequest& request,
                                  const CountingParts& parts) {
  gpu::RangeCounters counters(parts.context, request.metrics);
  milliseconds busy = kFirstWarmUp;
  const gpu::CountedWork work{[&] { keep_busy(kernel, parts, std::exchange(busy, kNextWarmUp)); },
                              [&] { queue_cold_run(kernel, parts); }};
  return mapped(counters.count(request.runs, work),
                [&](const std::vector<double>& values) { return named(request.metrics, values); });
}

void run_for_profiler(const KernelLaunch& kernel, const CountingParts& parts) {
  parts.queue_flush();
  kernel.queue_preparation(parts.stream);
  parts.stream.synchronize();
  const gpu::ProfiledRegion region;
  kernel.queue_timed(parts.stream);
  parts.stream.synchronize();
}

}  // namespace

std::vector<RunCounts> count_runs(const KernelLaunch& kernel, const CountRequest& request,
                                  const CountingParts& parts) {
  if (!request.metrics.empty()) {
    return count_here(kernel, request, parts);
  }
  for (int run = 0; run < request.runs; ++run) {
    keep_busy(kernel, parts, kFirstWarmUp);
    run_for_profiler(kernel, parts);
  }
  return std::vector<RunCounts>(static_cast<std::size_t>(std::max(0, request.runs)));
}

}  // namespace fatune
