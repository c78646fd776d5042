#include "measure/timing.hpp"

#include <spdlog/spdlog.h>

#include <atomic>

#include "measure/plausibility.hpp"

namespace fatune {
namespace {

// Longer than any pause of a host that is merely busy, and short enough to wait for a few times.
constexpr unsigned long long kGateTimeoutNs = 100'000'000;
constexpr int kMaxExpiredInARow = 3;
constexpr std::int64_t kGateWordsBytes = 2 * sizeof(std::uint32_t);

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
      gate_words_(kGateWordsBytes),
      clock_mark_(sizeof(ClockMark)),
      clock_span_(sizeof(ClockSpan)),
      gate_in_use_(policy.device_gate),
      warm_(!policy.flush_l2) {}

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
  if (flush_buffer_.bytes() > 0) {
    gpu::fill_words_async(flush_buffer_.address(), ticket_, flush_buffer_.bytes() / 4, stream_);
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

}  // namespace fatune
