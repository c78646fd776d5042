#include "measure/matmul_rate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "attention/flop.hpp"
#include "core/device_limits.hpp"
#include "core/statistics.hpp"
#include "gpu/context.hpp"
#include "gpu/module.hpp"
#include "reference/matmul_rate_args.h"

namespace fatune {
namespace {

constexpr std::size_t kWarmUps = 10;  // clocks rise, and fall under load, within some 20 ms
constexpr std::size_t kLaunches = 11;
constexpr double kLaunchUs = 2000.0;  // time at the peak rate; hides the cost of a launch

// The number of products of each block for a launch of about kLaunchUs.
int products_of_launch(const DeviceLimits& limits) {
  constexpr double kClockUnlessSaidKhz = 1e6;
  const double clocks_per_us =
      (limits.clock_khz > 0 ? limits.clock_khz : kClockUnlessSaidKhz) / 1e3;
  const double flop = peak_tensor_flop_per_clock(limits.arch) * clocks_per_us * kLaunchUs;
  return kMatmulGroup * std::max(1, static_cast<int>(flop / kMatmulFlop / kMatmulGroup));
}

// The times of the launches after the warm-ups, sorted. All are queued before the first has ended.
std::array<double, kLaunches> launch_times_us(const gpu::Function& kernel, int blocks,
                                              const MatmulRateArgs& args) {
  const gpu::Stream stream;
  const LaunchGeometry geometry{{blocks, 1, 1}, {kMatmulThreads, 1, 1}, 0};
  std::array<gpu::Event, kLaunches + 1> events;
  for (std::size_t i = 0; i < kWarmUps; ++i) {
    gpu::launch_with(kernel, geometry, stream, args);
  }
  events.front().record(stream);
  for (std::size_t i = 0; i < kLaunches; ++i) {
    gpu::launch_with(kernel, geometry, stream, args);
    events[i + 1].record(stream);
  }
  stream.synchronize();
  std::array<double, kLaunches> times_us{};
  for (std::size_t i = 0; i < kLaunches; ++i) {
    times_us[i] = 1e3 * gpu::elapsed_ms(events[i], events[i + 1]);
  }
  std::ranges::sort(times_us);
  return times_us;
}

}  // namespace

MatmulRate measure_matmul_rate(const Artifact& kernel, const DeviceLimits& limits,
                               GpuMonitor* monitor) {
  const GpuMonitor::Work work(monitor);
  const gpu::Module module(kernel.cubin);
  const MatmulRateArgs args{products_of_launch(limits), nullptr, nullptr, nullptr};
  const auto times_us =
      launch_times_us(module.function(kernel.lowered_name), limits.sm_count, args);
  const auto reading = monitor == nullptr ? std::nullopt : monitor->latest();
  const double flop = kMatmulFlop * args.products * limits.sm_count;
  return {flop / median_of_sorted(times_us) * kFlopPerUsToTflops, reading ? reading->sm_mhz : 0.0};
}

}  // namespace fatune
