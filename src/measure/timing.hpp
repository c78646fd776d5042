#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "gpu/context.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/measurer.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/measure_policy.hpp"

namespace fatune {

/// Reads the GPU's management library on a separate thread, so that no sample waits for it, and
/// only while work is under way.
class GpuMonitor {
 public:
  using Clock = std::chrono::steady_clock;
  using Read = std::function<std::optional<GpuReading>()>;

  /// `read` is called on the monitor's thread alone, and must not throw.
  explicit GpuMonitor(Read read, std::chrono::milliseconds interval = std::chrono::milliseconds(20))
      : read_(std::move(read)),
        interval_(interval),
        thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  /// Work is under way while an object of this class lives. One at a time.
  class Work {
   public:
    /// Null: nothing is read.
    explicit Work(GpuMonitor* monitor) : monitor_(monitor) { set_busy(true); }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work() { set_busy(false); }

   private:
    void set_busy(bool busy) {
      if (monitor_ != nullptr) {
        monitor_->set_busy(busy);
      }
    }

    GpuMonitor* monitor_;
  };

  /// The last reading, with the clock limits of all readings since the last call. Empty: it is too
  /// old. Does not wait for a reading.
  [[nodiscard]] std::optional<GpuReading> latest();

 private:
  void set_busy(bool busy);
  void watch(const std::stop_token& stop);

  Read read_;
  std::chrono::milliseconds interval_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable_any changed_;
  bool busy_ = false;
  std::optional<GpuReading> latest_;
  Clock::time_point latest_at_;
  std::uint32_t limits_since_ = 0;
  std::jthread thread_;  // must be last: it uses the other members
};

/// The work that is queued around a timed run, outside its events. Neither function waits.
struct AroundRun {
  std::function<void()> before = [] {};
  std::function<void()> after = [] {};
};

/// A timed run of a kernel.
struct TimedRun {
  double us = 0.0;
  /// The mean clock of an SM, in MHz; 0: not known (no gate, or a run too short to tell).
  double sm_mhz = 0.0;
};

/// Takes timed samples of kernels, one at a time, so that a caller may interleave candidates.
///
/// A sample has these steps: queue what is to come before it; read the flush buffer (several times
/// the L2, so that neither the last run's data nor lines that must be written back are found
/// there); hold the stream at the device gate, queue event, kernel, event, open the gate; read the
/// SM's clocks; queue what is to come after it; wait. Because the stream is held, the device finds
/// event, kernel and event queued, and no launch cost falls between the events. For warm samples,
/// an untimed run of the kernel replaces the flush, so that the L2 does not hold what another
/// candidate has left there.
class SampleTimer {
 public:
  /// `flush_bytes`: the size of the flush buffer; 0 if samples are warm (policy). `kernels` and
  /// `stream` must outlive the timer.
  SampleTimer(const MeasurePolicy& policy, std::int64_t flush_bytes,
              const MeasurementModule& kernels, const gpu::Stream& stream);

  /// The device time of one run. Waits for the run and for what `around` queues. A sample whose
  /// gate opened by itself (the host was held up) is retaken. If that repeats, launches evidently
  /// wait for the device (a debugger, a sanitizer, CUDA_LAUNCH_BLOCKING), and the timer continues
  /// without the gate, with a warning. Throws gpu::DriverError.
  [[nodiscard]] TimedRun take_sample(const KernelLaunch& kernel, const AroundRun& around = {});

  /// Queues a read of the flush buffer, if there is one, so that the L2 is as cold as in samples.
  /// Does not wait.
  void queue_flush();

  /// Whether queue_flush() launches a kernel.
  [[nodiscard]] bool flushes() const noexcept { return flush_buffer_.bytes() > 0; }

  /// Whether the gate was asked for and is still in use.
  [[nodiscard]] bool gate_in_use() const noexcept { return gate_in_use_; }

 private:
  class HeldStream;

  void prepare(const KernelLaunch& kernel, const AroundRun& around);
  [[nodiscard]] TimedRun time_once(const KernelLaunch& kernel, const AroundRun& around);
  [[nodiscard]] double mean_sm_mhz() const;
  [[nodiscard]] bool gate_expired();
  void give_up_gate();

  const MeasurementModule& kernels_;
  const gpu::Stream& stream_;
  gpu::DeviceBuffer flush_buffer_;  // all words are the same, so that reading them writes nothing
  gpu::DeviceBuffer flush_mixed_{sizeof(std::uint32_t)};
  // [0]: the gate's flag, [1]: last ticket that expired
  gpu::PinnedBuffer gate_words_{2 * sizeof(std::uint32_t)};
  gpu::DeviceBuffer clock_mark_{sizeof(ClockMark)};
  gpu::PinnedBuffer clock_span_{sizeof(ClockSpan)};
  gpu::Event start_;
  gpu::Event stop_;
  gpu::Event done_;
  std::uint32_t ticket_ = 0;
  int expired_in_a_row_ = 0;
  bool gate_in_use_;
  bool warm_;
};

/// The parts of the measurer that counting needs.
struct CountingParts {
  const gpu::Context& context;
  const gpu::Stream& stream;
  SampleTimer& timer;  ///< flushes the L2
};

/// Reads the hardware counters of `request.runs` runs of the kernel, by metric: Measurer::count().
/// Throws gpu::DriverError if the kernel fails, Error(gpu_failure) if counters cannot be read.
[[nodiscard]] std::vector<std::map<std::string, double>> count_runs(const KernelLaunch& kernel,
                                                                    const CountRequest& request,
                                                                    const CountingParts& parts);

/// Measures the rate of dense products on all SMs of the current context's device, for some 50 ms.
/// The rate is that of the median of several launches, after about as many warm-up launches.
/// `kernel` must be compiled from matmul_request(); `monitor` may be null. Throws gpu::DriverError.
[[nodiscard]] MatmulRate measure_matmul_rate(const Artifact& kernel, const DeviceLimits& limits,
                                             GpuMonitor* monitor);

/// Measures the rate at which kernels read the memory of the current context's device, for some 5
/// ms. Empty: less than twice the memory for that is free. `kernels`: as for
/// measure_matmul_rate(). Throws gpu::DriverError.
[[nodiscard]] std::optional<MemoryRate> measure_memory_rate(const Artifact& kernels,
                                                            const DeviceLimits& limits);

}  // namespace fatune
