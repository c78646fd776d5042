// Trials on the fake GPU: which kernels a caller's own launches run.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/attention.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/runtime/fake_context.hpp"
#include "unit/runtime/sample_table.hpp"

namespace fatune_attention {
namespace {

using fatune::gpu::FakeDriver;
using fatune::gpu::ScopedVariable;

/// By kernel.
struct Launches {
  std::mutex mutex;
  std::map<std::string, int> of;
};

Launches& launches() {
  static Launches all;
  return all;
}

void count_launch(const char* kernel, void**) {
  const std::lock_guard lock(launches().mutex);
  ++launches().of[kernel];
}

std::map<std::string, int>& launches_of() { return launches().of; }

/// Each test has a problem of its own: what was tried is known to the process.
class TryKernels : public testing::Test {
 protected:
  void SetUp() override {
    FakeDriver::reset();
    FakeDriver::on_launch(count_launch);
    launches_of().clear();
    use_device(0);
    static int tests = 0;
    problem_ = predicted_problem();
    problem_.seq_len -= ++tests;
    problem_.seq_len_kv = problem_.seq_len;
    use(problem_);
  }
  void TearDown() override { FakeDriver::reset(); }

  void use(const Problem& problem) { tensors_ = tensors_in(memory_, problem); }
  /// Makes one query of so many keys the problem, the time of which is predicted, too.
  void decode_with(std::int64_t keys) {
    problem_ = predicted_problem();
    problem_.seq_len = 1;
    problem_.seq_len_kv = keys;
    use(problem_);
  }
  Result forward(int candidates = kMostCandidates) {
    return attention_forward(problem_, tensors_, {space_.data(), space_.size(), false}, nullptr,
                             candidates);
  }
  void forward_often(int calls = 20) {
    for (int i = 0; i < calls; ++i) {
      const Result result = forward();
      ASSERT_TRUE(result) << result.reason;
    }
  }
  Selection selected(int candidates = kMostCandidates) {
    Selection selection;
    EXPECT_TRUE(select_here(problem_, tensors_, selection, candidates));
    return selection;
  }
  /// The kernel of the next launch.
  std::string next_kernel() {
    launches_of().clear();
    EXPECT_TRUE(forward());
    EXPECT_EQ(launches_of().size(), 1U);
    return launches_of().begin()->first;
  }

  ScopedVariable plain_us_{"FATUNE_FAKE_US_plain_kernel", "100"};
  alignas(256) TensorMemory memory_{};
  alignas(256) std::array<unsigned char, 70'000> space_{};
  Problem problem_;
  Tensors tensors_;
};

TEST_F(TryKernels, KeepsTheFastestOne) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "90");
  EXPECT_EQ(selected().configuration, kPlain);
  EXPECT_EQ(selected().tried, 0);
  forward_often();
  EXPECT_GT(launches_of()["plain_kernel"], 1);
  EXPECT_GT(launches_of()["other_kernel"], 1);
  EXPECT_EQ(next_kernel(), "other_kernel");
  EXPECT_EQ(selected().configuration, kOther);
  EXPECT_EQ(selected().tried, 2);
  EXPECT_EQ(selected().step, Step::predicted);
  EXPECT_EQ(select(problem_, fake_h200()).configuration, kPlain) << "select() knows of no calls";
}

TEST_F(TryKernels, KeepsWhatWasPredictedWhereItIsTheFastest) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "105");
  forward_often();
  EXPECT_EQ(launches_of()["plain_kernel"] + launches_of()["other_kernel"], 20);
  EXPECT_LT(launches_of()["other_kernel"], 7);
  EXPECT_EQ(selected().configuration, kPlain);
  EXPECT_EQ(selected().tried, 2);
}

TEST_F(TryKernels, TriesNothingUnlessItIsAskedTo) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "50");
  ASSERT_TRUE(forward(1));
  const long long objects = FakeDriver::live_objects();
  for (int i = 0; i < 19; ++i) {
    ASSERT_TRUE(forward(1));
  }
  EXPECT_EQ(launches_of()["plain_kernel"], 20);
  EXPECT_EQ(FakeDriver::live_objects(), objects) << "no events";
}

TEST_F(TryKernels, TriesNothingForATunedProblem) {
  problem_ = tuned_problem();
  use(problem_);
  forward_often();
  EXPECT_EQ(launches_of()["tma_kernel"], 20);
}

TEST_F(TryKernels, OfACacheThatGrowsIsOneTrialForManyLengths) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "90");
  for (int i = 0; i < 20; ++i) {
    decode_with(3000 + i);
    ASSERT_TRUE(forward());
  }
  EXPECT_EQ(selected().tried, 2);
  decode_with(3072);
  EXPECT_EQ(next_kernel(), "other_kernel");
  EXPECT_EQ(selected().tried, 2);
  decode_with(3073);
  EXPECT_EQ(selected().tried, 0) << "another trial";
}

TEST_F(TryKernels, OfPromptsIsATrialForEachLength) {
  forward_often();
  --problem_.seq_len;
  --problem_.seq_len_kv;
  use(problem_);
  EXPECT_EQ(selected().tried, 0);
}

TEST_F(TryKernels, KeepsAWinnerForALengthThatAnotherOneDoesNotTake) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "120");
  decode_with(7166);
  forward_often();
  ASSERT_EQ(selected().configuration, kPlain);
  decode_with(7167);
  EXPECT_EQ(selected().configuration, kPlain);
  EXPECT_EQ(selected().tried, 2);
}

TEST_F(TryKernels, EndsForALengthThatOneOfThemDoesNotTake) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "90");
  decode_with(5118);
  forward_often();
  ASSERT_EQ(selected().configuration, kOther);
  decode_with(5119);
  EXPECT_EQ(selected().configuration, kPlain);
  EXPECT_EQ(selected().tried, 0);
  EXPECT_EQ(next_kernel(), "plain_kernel");
}

TEST_F(TryKernels, NeedsAWorkspaceForAllOfThem) {
  EXPECT_EQ(workspace_bytes(problem_, tensors_), 0U);
  EXPECT_GT(workspace_bytes(problem_, tensors_, kMostCandidates), 0U);
  const Result result = attention_forward(problem_, tensors_, {}, nullptr, kMostCandidates);
  EXPECT_EQ(result.status, Status::workspace_too_small);
  forward_often();
  EXPECT_EQ(workspace_bytes(problem_, tensors_, kMostCandidates), 0U) << "the winner needs none";
}

TEST_F(TryKernels, TriesNothingInACapturedGraph) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "50");
  {
    const ScopedVariable captures("FATUNE_FAKE_CAPTURES", "1");
    forward_often();
    EXPECT_EQ(launches_of()["plain_kernel"], 20);
  }
  forward_often();
  EXPECT_EQ(selected().configuration, kOther);
}

TEST_F(TryKernels, WaitsForNothing) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "50");
  {
    const ScopedVariable busy("FATUNE_FAKE_BUSY", "1");
    forward_often();
    // A round that warms up, and one whose times are not known yet.
    EXPECT_EQ(launches_of()["other_kernel"], 2);
    EXPECT_EQ(launches_of()["plain_kernel"], 18);
    EXPECT_EQ(selected().tried, 0);
  }
  forward_often();
  EXPECT_EQ(next_kernel(), "other_kernel");
}

TEST_F(TryKernels, EndsWhereTheDriverFails) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "50");
  for (const char* function : {"cuEventCreate", "cuEventRecord", "cuEventQuery"}) {
    problem_.batch = function[7] == 'C' ? 5 : function[7] == 'R' ? 6 : 7;
    use(problem_);
    const ScopedVariable fails("FATUNE_FAKE_FAIL", std::string(function) + "=2");
    forward_often();
    EXPECT_EQ(next_kernel(), "plain_kernel") << function;
  }
}

TEST_F(TryKernels, EndsWhereOneOfThemFails) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "50");
  const ScopedVariable fails("FATUNE_FAKE_FAIL", "cuMemsetD32Async=2");  // of its workspace
  forward_often();
  EXPECT_EQ(launches_of()["plain_kernel"], 20) << "the second call has the first kernel, too";
}

TEST_F(TryKernels, IsForAllThreads) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "90");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      use_device(0);
      forward_often();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(selected().configuration, kOther);
}

TEST_F(TryKernels, ForgetsTheOldestOfManyProblems) {
  const ScopedVariable other_us("FATUNE_FAKE_US_other_kernel", "90");
  const auto tried_for_another_thread = [&] {
    int tried = -1;
    std::thread([&] {
      use_device(0);
      tried = selected().tried;
    }).join();
    return tried;
  };
  forward_often();
  ASSERT_EQ(tried_for_another_thread(), 2);
  const float scale = problem_.softmax_scale;
  for (int i = 0; i < 300; ++i) {
    problem_.softmax_scale = 0.1F + 0.001F * static_cast<float>(i);
    ASSERT_TRUE(forward());
  }
  problem_.softmax_scale = scale;
  EXPECT_EQ(tried_for_another_thread(), 0);
}

}  // namespace
}  // namespace fatune_attention
