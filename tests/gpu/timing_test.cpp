// Tests the timing protocol on the GPU: the gate holds and opens, the flush makes samples cold, and
// times are correct.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "gpu/gpu_test.hpp"
#include "gpu/nvml.hpp"
#include "gpu/test_kernels.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/tensors.hpp"
#include "measure/timing.hpp"
#include "model/statistics.hpp"
#include "unit/model/standard_arguments.hpp"

namespace fatune {
namespace {

using Clock = std::chrono::steady_clock;

double since_ms(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class TimingTest : public GpuTest {
 protected:
  // 4 MiB per tensor: the three tensors that are read fit into the L2 of every supported GPU.
  static inline const Problem kProblem{1, 2048, 16, 64, DType::fp16, false};

  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped()) {
      stream_.emplace();
      kernels_.emplace(measurement_kernels(kProblem, arch()));
      tensors_.emplace(kProblem);
      tensors_->poison(*stream_);
    }
  }

  struct Ready {
    LoadedKernel kernel;
    KernelLaunch launch;
  };
  [[nodiscard]] Ready load(const char* source, const char* name,
                           const LaunchGeometry& geometry = {},
                           LaunchMode mode = LaunchMode::plain) const {
    const Artifact artifact = compile_test_kernel(source, name, arch(), {{"SPIN_NS", "200000"}});
    LoadedKernel kernel(artifact);
    EXPECT_FALSE(kernel.prepare(geometry, limits()).has_value());
    LaunchGeometry with_arguments = geometry;
    with_arguments.arguments = attention_forward_arguments(kProblem);
    const auto addresses = [this](std::string_view tensor) { return tensors_->find(tensor); };
    KernelLaunch launch = kernel.launch(with_arguments, addresses, mode, "attention_test");
    return {std::move(kernel), std::move(launch)};
  }

  [[nodiscard]] Timing time(const Ready& ready, bool flush, bool gate) const {
    MeasurePolicy policy;
    policy.flush_l2 = flush;
    policy.device_gate = gate;
    SampleTimer timer(policy, flush ? kL2SizesOfFlush * limits().l2_bytes : 0, *kernels_, *stream_);
    constexpr int kWarmup = 10;
    std::vector<double> samples_us;
    for (int i = 0; i < kWarmup + 101; ++i) {
      samples_us.push_back(timer.take_sample(ready.launch).us);
    }
    EXPECT_EQ(timer.gate_in_use(), gate) << "the gate must work on a GPU";
    return summarise({samples_us.begin() + kWarmup, samples_us.end()}, policy.confidence);
  }

  std::optional<gpu::Stream> stream_;
  std::optional<MeasurementModule> kernels_;
  std::optional<Tensors> tensors_;
};

class GateTest : public TimingTest {
 protected:
  // How many milliseconds the stream is held if the flag is written after `open_after_ms`
  // (negative: never), and whether the gate reports that it expired.
  struct Held {
    double ms = 0.0;
    bool expired = false;
  };
  [[nodiscard]] Held hold(double timeout_ms, double open_after_ms) const {
    const gpu::PinnedBuffer words(8);
    const gpu::DeviceBuffer mark(sizeof(ClockMark));
    auto* host = words.host_as<std::uint32_t>();
    kernels_->hold({reinterpret_cast<const unsigned*>(words.address()),
                    reinterpret_cast<unsigned*>(words.address() + 4),
                    static_cast<unsigned long long>(timeout_ms * 1e6), 1, mark.as<ClockMark>()},
                   *stream_);
    const auto start = Clock::now();
    if (open_after_ms >= 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(open_after_ms));
      std::atomic_ref(host[0]).store(1, std::memory_order_release);
    }
    stream_->synchronize();
    return {since_ms(start), std::atomic_ref(host[1]).load() == 1};
  }
};

TEST_F(GateTest, HoldsUntilTheHostOpensIt) {
  const Held held = hold(10'000, 30);
  EXPECT_FALSE(held.expired);
  EXPECT_GE(held.ms, 30);
  EXPECT_LT(held.ms, 1000) << "long before the timeout of 10 s";
}

TEST_F(GateTest, OpensByItselfAfterItsTimeout) {
  const Held held = hold(20, -1);
  EXPECT_TRUE(held.expired);
  EXPECT_GE(held.ms, 15);
  EXPECT_LT(held.ms, 1000);
}

TEST_F(TimingTest, TimesAreTrue) {
  const Timing timing = time(load(kSpin, "spin"), false, true);
  EXPECT_GE(timing.min_us, 198.0) << "less than it ran, but for the clock's steps";
  EXPECT_LT(timing.median_us, 215.0);
  EXPECT_LE(timing.median_low_us, timing.median_us);
  EXPECT_LE(timing.median_us, timing.median_high_us);
  EXPECT_GE(timing.confidence, 0.95);
  RecordProperty("median_us", fmt::format("{:.2f}", timing.median_us));
}

// Without the gate the device waits between the events for the host to launch the kernel.
TEST_F(TimingTest, TheGateKeepsLaunchCostOut) {
  const Ready kernel = load(kEmpty, "empty");
  const Timing gated = time(kernel, false, true);
  const Timing open = time(kernel, false, false);
  RecordProperty("gated_us", fmt::format("{:.2f}", gated.median_us));
  RecordProperty("open_us", fmt::format("{:.2f}", open.median_us));
  EXPECT_LT(gated.median_us, open.median_us);
  EXPECT_LT(gated.median_us, 10.0) << "an empty kernel";
}

TEST_F(TimingTest, TheFlushMakesSamplesCold) {
  const Ready kernel = load(kReadAll, "read_all", {{limits().sm_count, 1, 1}, {1024, 1, 1}, 0});
  const Timing cold = time(kernel, true, true);
  const Timing warm = time(kernel, false, true);
  RecordProperty("cold_us", fmt::format("{:.2f}", cold.median_us));
  RecordProperty("warm_us", fmt::format("{:.2f}", warm.median_us));
  EXPECT_GT(cold.median_us, 1.1 * warm.median_us)
      << "12 MiB are read, " << limits().l2_bytes << " bytes of L2";
}

TEST_F(TimingTest, AGraphTakesAsLongAsItsKernel) {
  const Timing plain = time(load(kSpin, "spin"), true, true);
  const Timing graph = time(load(kSpin, "spin", {}, LaunchMode::graph), true, true);
  RecordProperty("plain_us", fmt::format("{:.2f}", plain.median_us));
  RecordProperty("graph_us", fmt::format("{:.2f}", graph.median_us));
  EXPECT_NEAR(graph.median_us, plain.median_us, 0.03 * plain.median_us);
}

// A large buffer is filled between the samples, which evicts the kernel's tensors from the L2.
TEST_F(TimingTest, WarmSamplesAreWarmAlsoInTurns) {
  const LaunchGeometry all_sms{{limits().sm_count, 1, 1}, {1024, 1, 1}, 0};
  const Ready kernel = load(kReadAll, "read_all", all_sms);
  const double alone_us = time(kernel, false, true).median_us;
  MeasurePolicy policy;
  policy.flush_l2 = false;
  SampleTimer timer(policy, 0, *kernels_, *stream_);
  const gpu::DeviceBuffer large(4 * limits().l2_bytes);
  std::vector<double> samples_us;
  for (int i = 0; i < 51; ++i) {
    gpu::fill_words_async(large.address(), 0, large.bytes() / 4, *stream_);
    samples_us.push_back(timer.take_sample(kernel.launch).us);
  }
  EXPECT_NEAR(summarise(samples_us, 0.95).median_us, alone_us, 0.1 * alone_us);
}

TEST_F(TimingTest, TheManagementLibrarySaysHowFastTheClockRuns) {
  const gpu::Nvml nvml(limits().uuid);
  if (!nvml.available()) {
    GTEST_SKIP() << nvml.problem();
  }
  const Ready kernel = load(kSpin, "spin", {{limits().sm_count, 1, 1}, {1024, 1, 1}, 0});
  static_cast<void>(time(kernel, true, true));  // leaves its idle clock
  const auto start = Clock::now();
  const std::optional<GpuReading> reading = nvml.read();
  RecordProperty("read_ms", fmt::format("{:.2f}", since_ms(start)));
  ASSERT_TRUE(reading);
  EXPECT_GT(reading->sm_mhz, 200.0);
  EXPECT_LT(reading->sm_mhz, 4000.0);
  EXPECT_GT(reading->power_w, 10.0);
  EXPECT_LT(reading->power_w, 2000.0);
  EXPECT_GT(reading->temperature_c, 10.0);
  EXPECT_LT(reading->temperature_c, 110.0);
}

TEST_F(TimingTest, TheMeanClockOfALongRunIsKnown) {
  const Ready spin = load(kLongSpin, "long_spin", {{limits().sm_count, 1, 1}, {64, 1, 1}, 0});
  SampleTimer timer(MeasurePolicy{}, 0, *kernels_, *stream_);
  for (int i = 0; i < 20; ++i) {
    const TimedRun run = timer.take_sample(spin.launch);
    EXPECT_NEAR(run.us * run.sm_mhz, 4e6, 4e4) << run.us << " us at " << run.sm_mhz << " MHz";
    EXPECT_LT(run.sm_mhz, 1.01e-3 * static_cast<double>(limits().clock_khz));
  }
}

TEST_F(TimingTest, ReadingTheClocksDoesNotDisturbTheSamples) {
  const gpu::Nvml nvml(limits().uuid);
  if (!nvml.available()) {
    GTEST_SKIP() << nvml.problem();
  }
  const Ready kernel = load(kSpin, "spin");
  const double quiet_us = time(kernel, true, true).median_us;
  GpuMonitor monitor([&nvml] {
    const auto reading = nvml.read();
    return reading ? std::optional(GpuReading{reading->sm_mhz, 0, 0, 0}) : std::nullopt;
  });
  const GpuMonitor::Work work(&monitor);
  EXPECT_NEAR(time(kernel, true, true).median_us, quiet_us, 0.01 * quiet_us);
  EXPECT_TRUE(monitor.latest());
}

TEST_F(TimingTest, SamplesCanBeTakenInTurn) {
  const Ready spin = load(kSpin, "spin");
  const Ready empty = load(kEmpty, "empty");
  MeasurePolicy policy;
  SampleTimer timer(policy, 0, *kernels_, *stream_);
  for (int round = 0; round < 5; ++round) {
    EXPECT_GT(timer.take_sample(spin.launch).us, 190.0);
    EXPECT_LT(timer.take_sample(empty.launch).us, 100.0);
  }
}

}  // namespace
}  // namespace fatune
