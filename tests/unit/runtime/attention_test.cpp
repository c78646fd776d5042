#include "runtime/attention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/attention_args.h"
#include "runtime/driver.hpp"
#include "runtime/facts.hpp"
#include "unit/gpu/fake_driver.hpp"
#include "unit/runtime/fake_context.hpp"
#include "unit/runtime/sample_table.hpp"

namespace fatune_attention {
namespace {

using fatune::gpu::FakeDriver;
using fatune::gpu::ScopedVariable;
using testing::HasSubstr;

/// The number of launches, the last kernel's name, and the last arguments of each kernel.
struct Seen {
  std::mutex mutex;
  int launches = 0;
  TmaWork work{};
  AttentionForwardArgs plain{};
  std::string kernel;
};

Seen& seen() {
  static Seen all;
  return all;
}

void remember_launch(const char* kernel, void** arguments) {
  const std::lock_guard lock(seen().mutex);
  ++seen().launches;
  seen().kernel = kernel;
  if (seen().kernel == "tma_kernel") {
    std::memcpy(&seen().work, arguments[1], sizeof(TmaWork));
  } else {
    std::memcpy(&seen().plain, arguments[0], sizeof(AttentionForwardArgs));
  }
}

/// A fake GPU with a context; device memory is host memory.
class Forward : public testing::Test {
 protected:
  void SetUp() override {
    FakeDriver::reset();
    FakeDriver::on_launch(remember_launch);
    seen().launches = 0;
    use_device(0);
    problem_ = tuned_problem();
    set_tensors();
  }
  void TearDown() override { FakeDriver::reset(); }

  void set_tensors() { tensors_ = tensors_in(memory_, problem_); }

  Workspace workspace(bool is_clean = false) { return {space_.data(), space_.size(), is_clean}; }

  Result forward() { return attention_forward(problem_, tensors_, workspace(), nullptr); }

  std::uint32_t word_at(std::size_t offset) const {
    std::uint32_t word = 0;
    std::memcpy(&word, space_.data() + offset, sizeof word);
    return word;
  }

  ScopedVariable devices_{"FATUNE_FAKE_DEVICES", "16"};
  alignas(256) TensorMemory memory_{};
  alignas(256) std::array<unsigned char, 70'000> space_{};
  Problem problem_;
  Tensors tensors_;
};

TEST_F(Forward, LaunchesTheKernelWithItsArguments) {
  const Result result = forward();
  ASSERT_TRUE(result) << result.reason;
  EXPECT_EQ(seen().kernel, "tma_kernel");
  EXPECT_EQ(seen().work.counter, space_.data());
  EXPECT_EQ(seen().work.parts, space_.data() + 65536);
  EXPECT_EQ(seen().work.seq_len, 4096);
  EXPECT_FLOAT_EQ(seen().work.scale, 0.088388346F);
  EXPECT_EQ(FakeDriver::grid()[0], 32U);
  EXPECT_EQ(FakeDriver::grid()[2], 4U);
}

TEST_F(Forward, LaunchesAnotherKernelForAnotherProblem) {
  problem_.d_head = problem_.d_head_v = 64;
  set_tensors();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(attention_forward(problem_, tensors_, {}, nullptr));
    EXPECT_EQ(seen().kernel, "plain_kernel");
    EXPECT_EQ(seen().plain.o, tensors_.o.data);
    EXPECT_EQ(seen().plain.softmax_scale, 0.125F);
  }
  problem_ = tuned_problem();
  set_tensors();
  ASSERT_TRUE(forward());
  EXPECT_EQ(seen().kernel, "tma_kernel");
}

TEST_F(Forward, GivesTheKernelTheLengthsItself) {
  ASSERT_TRUE(forward());
  EXPECT_EQ(seen().work.seq_lens_kv, nullptr);
  const std::size_t bytes = workspace_bytes(problem_, tensors_);
  problem_.has_seq_lens_kv = true;
  EXPECT_EQ(workspace_bytes(problem_, tensors_), bytes);
  EXPECT_EQ(forward().status, Status::invalid_argument) << "there are no lengths";
  // Lengths in device memory, which the host must not read.
  for (const std::uintptr_t address : {0x70000000U, 0x70000010U}) {
    tensors_.seq_lens_kv = reinterpret_cast<const std::int32_t*>(address);
    ASSERT_TRUE(forward());
    EXPECT_EQ(seen().kernel, "tma_kernel");
    EXPECT_EQ(seen().work.seq_lens_kv, tensors_.seq_lens_kv);
  }
}

TEST_F(Forward, FillsTheWorkspace) {
  space_.fill(0xaa);
  ASSERT_TRUE(forward());
  EXPECT_EQ(word_at(0), 0U);
  EXPECT_EQ(word_at(256), 0xaaaaaaaaU);
  EXPECT_EQ(word_at(65536), 7U);
  EXPECT_EQ(word_at(65536 + 996), 7U);
  EXPECT_EQ(word_at(65536 + 1000), 0xaaaaaaaaU);
}

TEST_F(Forward, LeavesACleanWorkspaceAlone) {
  space_.fill(0xaa);
  ASSERT_TRUE(attention_forward(problem_, tensors_, workspace(true), nullptr));
  EXPECT_EQ(word_at(0), 0xaaaaaaaaU);
  EXPECT_EQ(word_at(65536), 7U);
}

TEST_F(Forward, RefusesAWorkspaceThatWillNotDo) {
  EXPECT_EQ(workspace_bytes(problem_, tensors_), 65536U + 1024);
  const Workspace wrong[] = {
      {}, {space_.data(), 65536 + 1023, false}, {space_.data() + 128, 66'560, false}};
  for (const Workspace& workspace : wrong) {
    EXPECT_EQ(attention_forward(problem_, tensors_, workspace, nullptr).status,
              Status::workspace_too_small);
  }
  EXPECT_EQ(FakeDriver::launches(), 0);
}

TEST_F(Forward, RefusesWrongArguments) {
  tensors_.q.data = nullptr;
  const Result result = forward();
  EXPECT_EQ(result.status, Status::invalid_argument);
  EXPECT_THAT(result.reason, HasSubstr("null"));
  problem_.seq_len = 0;
  EXPECT_EQ(forward().status, Status::invalid_argument);
  EXPECT_EQ(load(problem_, tensors_).status, Status::invalid_argument);
  EXPECT_EQ(workspace_bytes(problem_, tensors_), 0U);
}

TEST_F(Forward, RefusesAGpuOfAnotherArchitecture) {
  const ScopedVariable blackwell("FATUNE_FAKE_CC", "10.0");
  use_device(7);
  const Result result = forward();
  EXPECT_EQ(result.status, Status::unsupported);
  EXPECT_THAT(result.reason, HasSubstr("only for compute capability 9.0"));
  EXPECT_EQ(load(problem_, tensors_).status, Status::unsupported);
  EXPECT_EQ(FakeDriver::launches(), 0);
}

TEST_F(Forward, RunsOnSeveralGpus) {
  for (const int ordinal : {3, 0, 4, 3}) {
    use_device(ordinal);
    EXPECT_TRUE(forward());
  }
  EXPECT_EQ(seen().launches, 4);
}

TEST_F(Forward, NeedsAContextInItsThread) {
  std::thread([&] {
    const Result result = forward();
    EXPECT_EQ(result.status, Status::no_context);
    EXPECT_THAT(result.reason, HasSubstr("cudaSetDevice"));
    Device device;
    EXPECT_EQ(current_device(device).status, Status::no_context);
    EXPECT_EQ(workspace_bytes(problem_, tensors_), 0U);
  }).join();
}

TEST_F(Forward, KnowsTheCurrentDevice) {
  Device device;
  ASSERT_TRUE(current_device(device));
  const Device expected = fake_h200();
  EXPECT_STREQ(device.name, expected.name);
  EXPECT_EQ(device.arch, expected.arch);
  EXPECT_EQ(device.sm_count, expected.sm_count);
  EXPECT_EQ(device.max_threads_per_block, expected.max_threads_per_block);
  EXPECT_EQ(device.max_threads_per_sm, expected.max_threads_per_sm);
  EXPECT_EQ(device.registers_per_sm, expected.registers_per_sm);
  EXPECT_EQ(device.smem_per_block_optin_bytes, expected.smem_per_block_optin_bytes);
  EXPECT_EQ(device.smem_per_sm_bytes, expected.smem_per_sm_bytes);
}

TEST_F(Forward, RunsInSeveralThreads) {
  constexpr int kThreads = 8;
  constexpr int kCalls = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      use_device(8 + i % 4);
      for (int calls = 0; calls < kCalls; ++calls) {
        EXPECT_TRUE(attention_forward(problem_, tensors_, workspace(true), nullptr));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(seen().launches, kThreads * kCalls);
}

TEST_F(Forward, SaysWhichErrorTheDriverGives) {
  use_device(12);
  const ScopedVariable failing("FATUNE_FAKE_FAIL", "cuKernelSetAttribute=1,cuFuncLoad=719");
  const Result result = forward();
  EXPECT_EQ(result.status, Status::driver_error);
  EXPECT_STREQ(result.reason, "CUDA_ERROR_INVALID_VALUE");
}

TEST_F(Forward, TriesAgainAfterAnError) {
  use_device(13);
  {
    const ScopedVariable failing("FATUNE_FAKE_FAIL", "cuDeviceGetAttribute=999");
    EXPECT_EQ(forward().status, Status::driver_error);
  }
  EXPECT_TRUE(forward());
}

TEST_F(Forward, SaysThatMachineCodeIsNotForTheGpu) {
  const ScopedVariable failing("FATUNE_FAKE_FAIL", "cuLaunchKernelEx=209");
  EXPECT_EQ(forward().status, Status::unsupported);
}

TEST_F(Forward, EndsWhenTheWorkspaceCannotBeFilled) {
  const ScopedVariable failing("FATUNE_FAKE_FAIL", "cuMemsetD32Async=700");
  EXPECT_EQ(forward().status, Status::driver_error);
  EXPECT_EQ(FakeDriver::launches(), 0);
}

TEST_F(Forward, RefusesTensorMapsThatTheDriverRefuses) {
  const ScopedVariable failing("FATUNE_FAKE_FAIL", "cuTensorMapEncodeTiled=1");
  const Result result = forward();
  EXPECT_EQ(result.status, Status::unsupported);
  EXPECT_THAT(result.reason, HasSubstr("tensor map"));
}

TEST_F(Forward, LoadsAheadWithoutLaunching) {
  use_device(14);
  EXPECT_TRUE(load(problem_, tensors_));
  EXPECT_EQ(FakeDriver::launches(), 0);
  const ScopedVariable failing("FATUNE_FAKE_FAIL",
                               "cuLibraryLoadData=1,cuLibraryGetKernel=1,cuKernelSetAttribute=1,"
                               "cuDeviceGetAttribute=1");
  EXPECT_TRUE(forward());
}

}  // namespace
}  // namespace fatune_attention
