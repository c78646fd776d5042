#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "runtime/attention.hpp"
#include "runtime/facts.hpp"
#include "unit/runtime/sample_table.hpp"

namespace fatune_attention {
namespace {

/// The number of allocations that this thread has made.
thread_local int allocations = 0;

}  // namespace
}  // namespace fatune_attention

void* operator new(std::size_t bytes) {
  ++fatune_attention::allocations;
  if (void* memory = std::malloc(bytes)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace fatune_attention {
namespace {

Device device_of(int arch) {
  Device device = fake_h200();
  device.arch = arch;
  return device;
}

TEST(Selection, TakesTheBestOfTheRowThatIsEligible) {
  const Selection selection = select(tuned_problem(), fake_h200());
  EXPECT_EQ(selection.step, Step::exact);
  EXPECT_EQ(selection.configuration, kTma);
  EXPECT_EQ(selection.kernel, 0);
  EXPECT_EQ(selection.row, 0);
  EXPECT_STREQ(selection.config, "(tma)");
  EXPECT_STREQ(selection.reason, "");
  EXPECT_EQ(selection.tuned_us, 99.0);
  EXPECT_EQ(selection.regret_percent, 10.0);
  EXPECT_FALSE(selection.untuned);
  EXPECT_EQ(selection.workspace_bytes, 65536U + 1024);
}

TEST(Selection, TakesTheRowOfANeighbour) {
  Problem problem = tuned_problem();
  problem.seq_len = problem.seq_len_kv = 4000;
  EXPECT_EQ(select(problem, fake_h200()).step, Step::same_bucket);
  problem.seq_len = problem.seq_len_kv = 8000;
  EXPECT_EQ(select(problem, fake_h200()).step, Step::neighbour_bucket);
  Device other = fake_h200();
  other.sm_count = 114;
  EXPECT_EQ(select(problem, other).step, Step::same_arch);
}

TEST(Selection, TakesADefaultFarFromAllRows) {
  Problem problem = tuned_problem();
  problem.d_head = problem.d_head_v = 64;
  const Selection selection = select(problem, fake_h200());
  EXPECT_EQ(selection.step, Step::fallback);
  EXPECT_EQ(selection.configuration, kPlain);
  EXPECT_EQ(selection.row, -1);
  EXPECT_EQ(selection.tuned_us, 0.0);
  EXPECT_TRUE(std::isnan(selection.regret_percent));
  EXPECT_TRUE(selection.untuned);
  EXPECT_STREQ(selection.untuned.text, "d_head: 64; tuned: 128");
  EXPECT_EQ(selection.workspace_bytes, 0U);
}

TEST(Selection, SaysNothingOfTheRegretOutsideTheTunedRange) {
  Problem problem = tuned_problem();
  problem.seq_len = problem.seq_len_kv = 8000;
  const Selection selection = select(problem, fake_h200());
  EXPECT_EQ(selection.step, Step::neighbour_bucket);
  EXPECT_STREQ(selection.untuned.text, "queries: 8000; tuned: 4096");
  EXPECT_TRUE(std::isnan(selection.regret_percent));
  problem.seq_len = problem.seq_len_kv = 4000;
  EXPECT_FALSE(select(problem, fake_h200()).untuned);
  EXPECT_EQ(select(problem, fake_h200()).regret_percent, 10.0);
}

TEST(Selection, OfLengthsIsThatOfAsManyKeysAsThereIsRoomFor) {
  Problem problem = tuned_problem();
  problem.has_seq_lens_kv = true;
  const Selection selection = select(problem, fake_h200());
  EXPECT_EQ(selection.configuration, kTma);
  EXPECT_EQ(selection.row, 0);
  EXPECT_EQ(selection.step, Step::same_bucket) << "no row has lengths";
  EXPECT_FALSE(selection.untuned);
  EXPECT_TRUE(std::isnan(selection.regret_percent));
  problem.d_head = problem.d_head_v = 64;
  EXPECT_EQ(select(problem, fake_h200()).step, Step::refused);
  problem.has_seq_lens_kv = false;
  EXPECT_EQ(select(problem, fake_h200()).configuration, kPlain);
}

TEST(Selection, OfKAndVOfEightBitsIsNoneThatWasTunedForSixteen) {
  Problem problem = tuned_problem();
  problem.kv_dtype = KvDType::e4m3;
  const Selection selection = select(problem, fake_h200());
  EXPECT_EQ(selection.step, Step::refused);
  EXPECT_STREQ(selection.reason,
               "no tuned problem has K and V of this 8-bit type with such scales");
}

TEST(Selection, PassesOverKernelsThatTakeContiguousTensorsAlone) {
  Problem problem = tuned_problem();
  problem.d_head = problem.d_head_v = 64;
  Tensors tensors = detail::usual_tensors(problem);
  tensors.k.row_stride *= 2;
  const Selection selection = select(problem, tensors, fake_h200());
  EXPECT_EQ(selection.step, Step::refused);
  EXPECT_STREQ(selection.reason, "the kernel is for d_head 128");
  problem = tuned_problem();
  tensors = detail::usual_tensors(problem);
  tensors.k.row_stride *= 2;
  EXPECT_EQ(select(problem, tensors, fake_h200()).configuration, kTma);
}

TEST(Selection, RefusesOtherArchitectures) {
  const Selection newer = select(tuned_problem(), device_of(100));
  EXPECT_EQ(newer.step, Step::refused);
  EXPECT_EQ(newer.configuration, -1);
  EXPECT_STREQ(newer.reason, "its kernels are only for compute capability 9.0 (sm_90a)");
  EXPECT_EQ(select(tuned_problem(), device_of(75)).step, Step::refused);
}

TEST(Selection, TakesMachineCodeOfTheArchitecture) {
  const Selection ampere = select(tuned_problem(), device_of(86));
  EXPECT_EQ(ampere.step, Step::fallback);
  EXPECT_EQ(ampere.configuration, kPlain);
  EXPECT_EQ(ampere.kernel, 2);
  EXPECT_EQ(select(tuned_problem(), device_of(120)).step, Step::refused);
}

TEST(Selection, RefusesWhatTheDeviceHasNoRoomFor) {
  Device small = fake_h200();
  small.smem_per_block_optin_bytes = 200'000 + 1023;  // one byte less than it needs
  EXPECT_EQ(select(tuned_problem(), small).configuration, kPlain);
  small.smem_per_block_optin_bytes = 200'000 + 1024;
  EXPECT_EQ(select(tuned_problem(), small).configuration, kTma);
  small.max_threads_per_block = 383;
  EXPECT_EQ(select(tuned_problem(), small).configuration, kPlain);
  small.max_threads_per_block = 0;
  EXPECT_STREQ(select(tuned_problem(), small).reason,
               "it needs more threads per block than the GPU allows");
}

TEST(Selection, SaysWhatIsWrongWithTheArguments) {
  Problem problem = tuned_problem();
  problem.kv_heads = 3;
  EXPECT_STREQ(select(problem, fake_h200()).reason, "kv_heads does not divide heads");
  Tensors tensors = detail::usual_tensors(tuned_problem());
  tensors.q.row_stride = 1;
  EXPECT_EQ(select(tuned_problem(), tensors, fake_h200()).step, Step::refused);
}

TEST(Selection, RefusesExtentsWhoseProductsOverflow) {
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t Problem::*extent : {&Problem::batch, &Problem::heads, &Problem::seq_len}) {
    Problem problem = tuned_problem();
    problem.*extent = kGreatest;
    EXPECT_NE(std::string(select(problem, fake_h200()).reason).find(" is outside 1 to "),
              std::string::npos);
  }
}

TEST(Selection, IsTheSameEachTime) {
  const Selection first = select(tuned_problem(), fake_h200());
  for (int i = 0; i < 10; ++i) {
    const Selection again = select(tuned_problem(), fake_h200());
    EXPECT_EQ(again.configuration, first.configuration);
    EXPECT_EQ(again.kernel, first.kernel);
  }
}

TEST(Selection, AllocatesNothing) {
  const Problem problem = tuned_problem();
  const Device device = fake_h200();
  const int before = allocations;
  const Selection selection = select(problem, device);
  const int made = allocations - before;
  EXPECT_EQ(made, 0);
  EXPECT_EQ(selection.kernel, 0);
}

TEST(Contents, AreThoseOfTheTable) {
  EXPECT_EQ(contents().kernels, 4);
  EXPECT_EQ(contents().configurations, 4);
  EXPECT_EQ(contents().rows, 3);
}

}  // namespace
}  // namespace fatune_attention
