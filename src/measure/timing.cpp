#include "measure/timing.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/ranges.hpp"
#include "gpu/module.hpp"
#include "gpu/profiler.hpp"
#include "gpu/range_counters.hpp"
#include "measure/plausibility.hpp"
#include "model/flop.hpp"
#include "model/statistics.hpp"
#include "reference/matmul_rate_args.h"

namespace fatune {
namespace {

constexpr std::chrono::milliseconds kTooOld{500};

}  // namespace

void GpuMonitor::set_busy(bool busy) {
  {
    const std::lock_guard lock(mutex_);
    busy_ = busy;
  }
  if (busy) {
    changed_.notify_one();
  }
}

void GpuMonitor::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return busy_; })) {
    lock.unlock();
    const std::optional<GpuReading> reading = read_();
    lock.lock();
    latest_ = reading;
    latest_at_ = Clock::now();
    limits_since_ |= reading ? reading->clock_limits : 0;
    changed_.wait_for(lock, stop, interval_, [] { return false; });
  }
}

std::optional<GpuReading> GpuMonitor::latest() {
  const std::lock_guard lock(mutex_);
  if (!latest_ || Clock::now() - latest_at_ > kTooOld) {
    return std::nullopt;
  }
  GpuReading reading = *latest_;
  reading.clock_limits |= std::exchange(limits_since_, 0);
  return reading;
}

namespace {

// Longer than any pause of a host that is merely busy, and short enough to wait for a few times.
constexpr unsigned long long kGateTimeoutNs = 100'000'000;
constexpr int kMaxExpiredInARow = 3;

std::atomic_ref<std::uint32_t> word(const gpu::PinnedBuffer& words, std::size_t index) {
  return std::atomic_ref<std::uint32_t>(words.host_as<std::uint32_t>()[index]);
}

}  // namespace

// Closes the gate for one ticket and opens it at the end of the scope, even if queueing throws.
class SampleTimer::HeldStream {
 public:
  explicit HeldStream(SampleTimer& timer) : timer_(timer) {
    if (timer_.gate_in_use_) {
      const gpu::DevicePtr flag = timer_.gate_words_.address();
      timer_.kernels_.hold({reinterpret_cast<const unsigned*>(flag),
                            reinterpret_cast<unsigned*>(flag + sizeof(std::uint32_t)),
                            kGateTimeoutNs, ++timer_.ticket_, timer_.clock_mark_.as<ClockMark>()},
                           timer_.stream_);
    }
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;
  ~HeldStream() { word(timer_.gate_words_, 0).store(timer_.ticket_, std::memory_order_release); }

 private:
  SampleTimer& timer_;
};

SampleTimer::SampleTimer(const MeasurePolicy& policy, std::int64_t flush_bytes,
                         const MeasurementModule& kernels, const gpu::Stream& stream)
    : kernels_(kernels),
      stream_(stream),
      flush_buffer_(flush_bytes),
      gate_in_use_(policy.device_gate),
      warm_(!policy.flush_l2) {
  if (flushes()) {
    gpu::fill_words_async(flush_buffer_.address(), 0, flush_buffer_.bytes() / 4, stream_);
  }
}

// Queues what comes before a sample. For a warm one, `before` follows the untimed run and replaces
// its output; the lines that it writes are those that the run has left in the L2.
void SampleTimer::prepare(const KernelLaunch& kernel, const AroundRun& around) {
  if (warm_) {
    kernel.queue(stream_);
  }
  around.before();
  if (!warm_) {
    queue_flush();
  }
}

void SampleTimer::queue_flush() {
  if (flushes()) {
    const auto chunks = static_cast<unsigned long long>(flush_buffer_.bytes() / kChunkBytes);
    kernels_.read_memory({flush_buffer_.as<void>(), chunks, flush_mixed_.as<unsigned>()}, stream_);
  }
}

double SampleTimer::mean_sm_mhz() const {
  const auto span = *clock_span_.host_as<const ClockSpan>();
  const double us = static_cast<double>(span.ns) / 1e3;
  return us < kLeastClockedUs ? 0.0 : static_cast<double>(span.cycles) / us;
}

TimedRun SampleTimer::time_once(const KernelLaunch& kernel, const AroundRun& around) {
  *clock_span_.host_as<ClockSpan>() = {};
  prepare(kernel, around);
  kernel.queue_preparation(stream_);
  {
    const HeldStream held(*this);
    start_.record(stream_);
    kernel.queue_timed(stream_);
    stop_.record(stream_);
  }
  if (gate_in_use_) {
    kernels_.read_clock_span(
        {clock_mark_.as<ClockMark>(), reinterpret_cast<ClockSpan*>(clock_span_.address())},
        stream_);
  }
  around.after();
  done_.record(stream_);
  done_.synchronize();
  return {1e3 * gpu::elapsed_ms(start_, stop_), mean_sm_mhz()};
}

bool SampleTimer::gate_expired() {
  return gate_in_use_ && word(gate_words_, 1).load(std::memory_order_acquire) == ticket_;
}

void SampleTimer::give_up_gate() {
  gate_in_use_ = false;
  spdlog::warn(
      "the device gate expired {} times in a row: launches seem to wait for the device; "
      "continuing without it (short kernels will appear slow)",
      expired_in_a_row_);
}

TimedRun SampleTimer::take_sample(const KernelLaunch& kernel, const AroundRun& around) {
  TimedRun run = time_once(kernel, around);
  while (gate_expired()) {
    if (++expired_in_a_row_ == kMaxExpiredInARow) {
      give_up_gate();
    }
    run = time_once(kernel, around);
  }
  expired_in_a_row_ = 0;
  return run;
}

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using RunCounts = std::map<std::string, double>;

// The chip is kept busy before counting. Sweeps sample a chip that has been busy for seconds, at
// the clock that its power limit leaves; a chip at rest starts at a higher clock.
constexpr milliseconds kFirstWarmUp{300};  // until the clock has settled
constexpr milliseconds kNextWarmUp{50};    // after the short pause between two passes

void queue_cold_run(const KernelLaunch& kernel, const CountingParts& parts) {
  parts.timer.queue_flush();
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
                              [&] { queue_cold_run(kernel, parts); },
                              parts.timer.flushes() ? 2 : 1};
  return mapped(counters.count(request.runs, work),
                [&](const std::vector<double>& values) { return named(request.metrics, values); });
}

void run_for_profiler(const KernelLaunch& kernel, const CountingParts& parts) {
  parts.timer.queue_flush();
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

// The median time of the launches after the warm-ups. All are queued before the first has ended.
template <typename Args>
double median_launch_us(const gpu::Function& kernel, const LaunchGeometry& geometry,
                        const gpu::Stream& stream, const Args& args) {
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
  return median_of_sorted(times_us);
}

// The memory that is read, in sizes of the L2, so that the L2 serves next to nothing of it.
constexpr std::int64_t kL2SizesOfRead = 16;
constexpr std::int64_t kReadBlocksPerSm = 8;

}  // namespace

MatmulRate measure_matmul_rate(const Artifact& kernel, const DeviceLimits& limits,
                               GpuMonitor* monitor) {
  const GpuMonitor::Work work(monitor);
  const gpu::Module module(kernel.cubin);
  const MatmulRateArgs args{products_of_launch(limits), nullptr, nullptr, nullptr};
  const double us =
      median_launch_us(module.function(kernel.lowered_name),
                       {{limits.sm_count, 1, 1}, {kMatmulThreads, 1, 1}, 0}, gpu::Stream(), args);
  const auto reading = monitor == nullptr ? std::nullopt : monitor->latest();
  const double flop = kMatmulFlop * args.products * limits.sm_count;
  return {flop / us * kFlopPerUsToTflops, reading ? reading->sm_mhz : 0.0};
}

std::optional<MemoryRate> measure_memory_rate(const Artifact& kernels, const DeviceLimits& limits) {
  const std::int64_t bytes = kL2SizesOfRead * limits.l2_bytes;
  if (bytes == 0 || bytes > limits.free_memory_bytes / 2) {
    return std::nullopt;
  }
  const gpu::Module module(kernels.cubin);
  const gpu::Stream stream;
  const gpu::DeviceBuffer data(bytes);
  const gpu::DeviceBuffer mixed(sizeof(unsigned));
  gpu::fill_words_async(data.address(), 0, bytes / 4, stream);
  const ReadMemoryArgs args{data.as<void>(), static_cast<unsigned long long>(bytes / kChunkBytes),
                            mixed.as<unsigned>()};
  const double us = median_launch_us(
      module.function("fatune_read_memory"),
      {{kReadBlocksPerSm * limits.sm_count, 1, 1}, {kReadThreads, 1, 1}, 0}, stream, args);
  return MemoryRate{static_cast<double>(bytes) / us * kBytesPerUsToGbps};
}

}  // namespace fatune
