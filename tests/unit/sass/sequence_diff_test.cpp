#include "sass/sequence_diff.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

namespace fatune {
namespace {

using Lines = std::vector<std::string>;

/// Restores one side from all lines but those that only the other side has.
Lines side(const std::vector<DiffLine>& lines, const Lines& a, const Lines& b, char other) {
  Lines side;
  for (const DiffLine& line : lines) {
    if (line.sign != other) {
      side.push_back(line.sign == '+' ? b[line.index] : a[line.index]);
    }
  }
  return side;
}

/// The length of the longest common subsequence, by its definition. Only for short sequences.
std::size_t longest_common(const Lines& a, const Lines& b, std::size_t i = 0, std::size_t j = 0) {
  if (i == a.size() || j == b.size()) {
    return 0;
  }
  return a[i] == b[j] ? 1 + longest_common(a, b, i + 1, j + 1)
                      : std::max(longest_common(a, b, i + 1, j), longest_common(a, b, i, j + 1));
}

Lines random_lines(std::mt19937& random) {
  Lines lines(random() % 9);
  for (std::string& line : lines) {
    line = std::string(1, static_cast<char>('a' + random() % 3));
  }
  return lines;
}

TEST(SequenceDiff, OneLineChanged) {
  EXPECT_THAT(
      diff_lines({"a", "b", "c"}, {"a", "x", "c"}),
      testing::ElementsAre(DiffLine{' ', 0}, DiffLine{'-', 1}, DiffLine{'+', 1}, DiffLine{' ', 2}));
}

TEST(SequenceDiff, BothSidesCanBeReadOffAndAsMuchAsPossibleIsCommon) {
  std::mt19937 random(11);
  for (int i = 0; i < 300; ++i) {
    const Lines a = random_lines(random);
    const Lines b = random_lines(random);
    const std::vector<DiffLine> diff = diff_lines(a, b);
    EXPECT_EQ(side(diff, a, b, '+'), a);
    EXPECT_EQ(side(diff, a, b, '-'), b);
    const auto common = std::count_if(diff.begin(), diff.end(),
                                      [](const DiffLine& line) { return line.sign == ' '; });
    EXPECT_EQ(static_cast<std::size_t>(common), longest_common(a, b));
  }
}

/// dtl begins anew after a number of steps, and its indices with it.
TEST(SequenceDiff, LongSequencesThatDifferMuchStayWhole) {
  std::mt19937 random(12);
  Lines a(4000);
  Lines b(5000);
  for (Lines* lines : {&a, &b}) {
    for (std::string& line : *lines) {
      line = std::to_string(random() % 1000);
    }
  }
  const std::vector<DiffLine> diff = diff_lines(a, b);
  EXPECT_EQ(side(diff, a, b, '+'), a);
  EXPECT_EQ(side(diff, a, b, '-'), b);
}

}  // namespace
}  // namespace fatune
