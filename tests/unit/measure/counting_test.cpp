// Hardware counters on a fake driver and a fake CUPTI: which runs are counted, under which
// conditions.
#include "measure/timing.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "base/error.hpp"
#include "measure/gpu_measurer.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/measure/host_gpu.hpp"

namespace fatune {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

const Problem kProblem{1, 20, 2, 64, DType::fp16, false};

class CountingTest : public gpu::FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    gpu_.attach();
    context_.emplace(0);
    measurer_.emplace(*context_, HostGpu::limits(), MeasurePolicy{});
    measurer_->begin_problem(kProblem, HostGpu::measurement_kernels());
    ASSERT_FALSE(measurer_->admit({1}, HostGpu::make_candidate()).failure);
  }
  void TearDown() override {
    measurer_.reset();
    context_.reset();
    FakeDriverTest::TearDown();
  }

  HostGpu gpu_{host_kernels_fp16_d64(), kProblem};
  std::optional<gpu::Context> context_;
  std::optional<GpuMeasurer> measurer_;
};

TEST_F(CountingTest, ForAProfilerInFrontOnlyTheRunsThatCountAreInItsRegion) {
  const long warm_before = gpu_.count("candidate");
  const Counted counted = measurer_->count({1}, {2, {}});
  EXPECT_FALSE(counted.failure);
  EXPECT_THAT(counted.runs, ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_EQ(gpu::FakeDriver::profiled_launches(), 2);
  EXPECT_GT(gpu_.count("candidate"), warm_before + 4) << "others kept the chip busy before";
  EXPECT_FALSE(measurer_->recheck({1}));
}

TEST_F(CountingTest, ACrashIsAnOutcome) {
  gpu::ScopedVariable crash("FATUNE_FAKE_KERNEL_ERROR", "700@name:candidate");
  const Counted counted = measurer_->count({1}, {1, {}});
  ASSERT_TRUE(counted.failure);
  EXPECT_EQ(outcome_name(*counted.failure), "crashed");
  EXPECT_TRUE(measurer_->context_lost());
}

#ifdef FATUNE_FAKE_CUPTI

TEST_F(CountingTest, EachRunHasItsValues) {
  const gpu::ScopedVariable cupti("FATUNE_CUPTI", FATUNE_FAKE_CUPTI);
  const Counted counted = measurer_->count({1}, {3, {"a__b.sum", "c__d.avg"}});
  EXPECT_FALSE(counted.failure);
  ASSERT_THAT(counted.runs, SizeIs(3));
  EXPECT_THAT(counted.runs[0], ElementsAre(Pair("a__b.sum", 1002.0), Pair("c__d.avg", 2002.0)))
      << "the first launch of each run flushes the L2";
  EXPECT_THAT(counted.runs[2], Contains(Pair("a__b.sum", 1006.0)));
  EXPECT_EQ(gpu::FakeDriver::profiled_launches(), 0);
}

TEST_F(CountingTest, CountersThatCannotBeReadAreAnErrorAndTheCandidateStays) {
  const gpu::ScopedVariable cupti("FATUNE_CUPTI", FATUNE_FAKE_CUPTI);
  EXPECT_THROW(static_cast<void>(measurer_->count({1}, {1, {"no_such"}})), Error);
  EXPECT_THAT(measurer_->sample({1}, 1).samples_us, SizeIs(1));
}

#endif

}  // namespace
}  // namespace fatune
