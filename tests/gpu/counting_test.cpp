// Tests hardware counters in this process: CUPTI's values must agree with those of the events.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/error.hpp"
#include "gpu/driver.hpp"
#include "gpu/gpu_test.hpp"
#include "gpu/test_kernels.hpp"
#include "measure/measurement_module.hpp"
#include "measure/tensors.hpp"
#include "measure/timing.hpp"
#include "model/statistics.hpp"
#include "unit/model/standard_arguments.hpp"

namespace fatune {
namespace {

class CountingTest : public GpuTest {
 protected:
  static inline const Problem kProblem{1, 2048, 16, 64, DType::fp16, false};
  static constexpr const char* kDuration = "gpu__time_duration.sum";
  static constexpr const char* kDramRead = "dram__bytes_read.sum";

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    stream_.emplace();
    kernels_.emplace(measurement_kernels(kProblem, arch()));
    tensors_.emplace(kProblem);
    tensors_->poison(*stream_);
    timer_.emplace(policy_, kL2SizesOfFlush * limits().l2_bytes, *kernels_, *stream_);
  }

  void load(const char* source, const char* name, const std::string& spin_ns = "1",
            const LaunchGeometry& geometry = {}) {
    kernel_.emplace(compile_test_kernel(source, name, arch(), {{"SPIN_NS", spin_ns}}));
    ASSERT_FALSE(kernel_->prepare(geometry, limits()).has_value());
    LaunchGeometry with_arguments = geometry;
    with_arguments.arguments = attention_forward_arguments(kProblem);
    launch_.emplace(kernel_->launch(
        with_arguments, [this](std::string_view tensor) { return tensors_->find(tensor); },
        LaunchMode::plain, "attention_test_B1_H16_N2048_D64"));
  }

  [[nodiscard]] double median_sample_us() {
    std::vector<double> samples_us;
    for (int i = 0; i < 101; ++i) {
      samples_us.push_back(timer_->take_sample(*launch_).us);
    }
    return summarise(samples_us, policy_.confidence).median_us;
  }

  // Skips the test, with the reason, if counters cannot be read.
  void count(const std::vector<std::string>& metrics, int runs) {
    try {
      counted_ = count_runs(*launch_, {runs, metrics}, {context(), *stream_, *timer_});
    } catch (const gpu::DriverError&) {
      throw;
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    ASSERT_EQ(counted_.size(), static_cast<std::size_t>(runs));
  }

  [[nodiscard]] double median(const char* metric) const {
    std::vector<double> values;
    for (const auto& run : counted_) {
      values.push_back(run.at(metric));
    }
    return summarise(values, policy_.confidence).median_us;
  }

  void expect_duration_as_events(const std::string& spin_ns) {
    load(kSpin, "spin", spin_ns);
    count({kDuration}, 5);
    if (IsSkipped()) {
      return;
    }
    const double events_us = median_sample_us();
    const double cupti_us = median(kDuration) / 1e3;
    std::printf("[ counters ] spin %s ns: events %.2f us, CUPTI %.2f us\n", spin_ns.c_str(),
                events_us, cupti_us);
    EXPECT_NEAR(cupti_us, events_us, 0.02 * events_us);
  }

  MeasurePolicy policy_;
  std::optional<gpu::Stream> stream_;
  std::optional<MeasurementModule> kernels_;
  std::optional<Tensors> tensors_;
  std::optional<SampleTimer> timer_;
  std::optional<LoadedKernel> kernel_;
  std::optional<KernelLaunch> launch_;
  std::vector<std::map<std::string, double>> counted_;
};

TEST_F(CountingTest, DurationIsThatOfTheEvents) { expect_duration_as_events("200000"); }

TEST_F(CountingTest, DurationOfALongKernelIsThatOfTheEvents) {
  expect_duration_as_events("5000000");
}

TEST_F(CountingTest, SeveralPassesCountTheSameRun) {
  load(kReadAll, "read_all", "1", {{132, 1, 1}, {256, 1, 1}, 0});
  count({kDuration, kDramRead, "lts__t_sector_hit_rate.pct", "sm__cycles_elapsed.max",
         "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "dram__bytes_write.sum",
         "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active"},
        3);
  if (IsSkipped()) {
    return;
  }
  for (const auto& run : counted_) {
    for (const auto& [metric, value] : run) {
      std::printf("[ counters ] %s = %g\n", metric.c_str(), value);
    }
  }
  const auto bytes = 3.0 * static_cast<double>(tensor_bytes(kProblem, TensorRole::q));
  EXPECT_NEAR(median(kDramRead), bytes, 0.1 * bytes) << "of a cold L2 all comes from DRAM";
  EXPECT_EQ(median("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"), 0.0);
}

TEST_F(CountingTest, SamplesTakeAsLongAfterCountingAsBefore) {
  load(kSpin, "spin", "200000");
  const double before_us = median_sample_us();
  count({kDuration}, 1);
  if (IsSkipped()) {
    return;
  }
  EXPECT_NEAR(median_sample_us(), before_us, 0.01 * before_us);
}

TEST_F(CountingTest, AnUnknownMetricIsNamed) {
  load(kSpin, "spin");
  count({kDuration}, 1);
  if (IsSkipped()) {
    return;
  }
  try {
    const auto counted = count_runs(*launch_, {1, {kDuration, "sm__no_such_thing.sum"}},
                                    {context(), *stream_, *timer_});
    FAIL() << "counted " << counted.size();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("sm__no_such_thing.sum"));
  }
}

}  // namespace
}  // namespace fatune
