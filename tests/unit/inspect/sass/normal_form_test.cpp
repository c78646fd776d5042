#include "inspect/sass/listing_text.hpp"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "unit/inspect/sass/listings.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::string& lines) {
  std::vector<std::string> texts;
  for (const NormalLine& line : normal_form(function_of(lines))) {
    texts.push_back(line.text);
  }
  return texts;
}

std::vector<std::string> shapes(const std::string& lines) {
  std::vector<std::string> shapes;
  for (const NormalLine& line : normal_form(function_of(lines))) {
    shapes.push_back(line.shape);
  }
  return shapes;
}

TEST(NormalForm, RegistersAreNumberedInOrderOfAppearance) {
  EXPECT_THAT(texts(("IMAD.WIDE R10, R7.reuse, 0x4, R10\n@!P3 LDG.E R4, [R10.64]\n"
                     "ISETP.GE.AND P3, PT, R4, UR6, PT")),
              ElementsAre("IMAD.WIDE R0, R1, 0x4, R0", "@!P0 LDG.E R2, [R0.64]",
                          "ISETP.GE.AND P0, PT, R2, UR0, PT"));
}

TEST(NormalForm, TheSameCodeWithOtherRegistersAndLabelsIsEqual) {
  EXPECT_EQ(texts("Q:\nA:\nFADD R1, R2, -R3\n@P0 BRA `(.LA)\nEXIT"),
            texts("Z9:\nFADD R7, R5, -R4\n@P2 BRA `(.LZ9)\nEXIT"));
}

TEST(NormalForm, OtherCodeIsNot) {
  EXPECT_NE(texts("FADD R1, R2, R3\nFADD R1, R2, R3"), texts("FADD R1, R2, R3\nFADD R1, R3, R2"));
}

TEST(NormalForm, ConstantsAndSpecialRegistersStay) {
  EXPECT_THAT(texts(("MOV R1, c[0x0][0x160]\nS2R R5, SR_TID.X\nMOV RZ, 0xR1\n"
                     "RET.REL.NODEC R8 `(f)\nCALL.REL.NOINC `($f$helper)")),
              ElementsAre("MOV R0, c[0x0][0x160]", "S2R R1, SR_TID.X", "MOV RZ, 0xR1",
                          "RET.REL.NODEC `(self)", "CALL.REL.NOINC `($$helper)"));
}

TEST(NormalForm, TheShapeIsTheSameWhateverCameBefore) {
  EXPECT_THAT(shapes("A:\n@!P1 IMAD R4, R5.reuse, UR6, -R7\nBRA `(.LA)"),
              ElementsAre("L:", "@!P IMAD R, R, UR, -R", "BRA `(L)"));
}

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
