#include "sass/line_counts.hpp"

#include <gmock/gmock.h>

#include "unit/sass/listings.hpp"

namespace fatune {
namespace {

constexpr const char* kToy = "toy_attention.cu";

const LineCount& at_line(const LineCounts& counts, std::int64_t line) {
  for (const LineCount& count : counts.lines) {
    if (count.at.line == line) {
      return count;
    }
  }
  throw std::out_of_range(std::to_string(line));
}

LineCounts toy_counts() {
  const Listing listing = recorded_listing("toy_attention.sm_80.nvdisasm_13.5.txt");
  return count_lines(listing, function_named(listing, "toy_attention"));
}

TEST(LineCounts, EveryInstructionHasOneLineOfItsOwn) {
  const Listing listing = recorded_listing("toy_attention.sm_80.nvdisasm_13.5.txt");
  const SassFunction& function = function_named(listing, "toy_attention");
  const LineCounts counts = count_lines(listing, function);
  std::int64_t own = counts.without_line.total;
  for (const LineCount& count : counts.lines) {
    own += count.own.total;
    EXPECT_EQ(count.at.file, kToy);
    EXPECT_LE(count.own.total, count.with_inlined.total);
    EXPECT_LE(count.own.main_loop, count.own.total);
  }
  EXPECT_EQ(own, counts.all.total);
  EXPECT_EQ(counts.all.total, static_cast<std::int64_t>(function.instructions.size()));
}

TEST(LineCounts, TheShufflesAreWrittenInWarpSumAndInlinedAtItsCall) {
  const LineCounts counts = toy_counts();
  const LineCount& shuffles = at_line(counts, 36);  // value += __shfl_xor_sync(...)
  EXPECT_EQ(shuffles.classes.at(static_cast<std::size_t>(OpcodeClass::lanes)).main_loop, 5);
  const LineCount& call = at_line(counts, 64);  // const float score = warp_sum(partial);
  EXPECT_EQ(call.own.main_loop, 0);
  EXPECT_EQ(call.with_inlined.main_loop, shuffles.own.main_loop);
}

TEST(LineCounts, TheHottestLineComesFirst) {
  const LineCounts counts = toy_counts();
  ASSERT_GT(counts.lines.size(), 5U);
  for (std::size_t i = 1; i < counts.lines.size(); ++i) {
    EXPECT_GE(counts.lines[i - 1].own.main_loop, counts.lines[i].own.main_loop);
  }
}

TEST(LineCounts, WithoutLineInformationNothingIsGuessed) {
  const Listing listing = recorded_listing("flash.sm_80.txt");
  const LineCounts counts = count_lines(listing, listing.functions[0]);
  EXPECT_TRUE(counts.lines.empty());
  EXPECT_EQ(counts.without_line.total, counts.all.total);
  EXPECT_EQ(counts.without_line.main_loop, 503);
}

}  // namespace
}  // namespace fatune
