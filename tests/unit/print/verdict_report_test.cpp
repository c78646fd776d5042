#include "print/comparisons.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace fatune {
namespace {

using testing::HasSubstr;

TEST(VerdictReport, EveryVerdictAndDoubtIsDocumented) {
  std::ifstream file(FATUNE_SOURCE_DIR "/docs/verdicts.md");
  const std::string doc(std::istreambuf_iterator<char>(file), {});
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    EXPECT_THAT(doc, HasSubstr(fmt::format("`{}`", enum_name(static_cast<Verdict>(i)))));
  }
  for (std::size_t i = 1; i < kDoubts; ++i) {
    EXPECT_THAT(doc, HasSubstr(fmt::format("\n| {} |", enum_name(static_cast<Doubt>(i)))));
  }
}

TEST(VerdictReport, CountsTheVerdictsThatOccur) {
  std::vector<RivalCheck> checks(3);
  checks[0].verdict = checks[1].verdict = Verdict::failing;
  checks[2].verdict = Verdict::repaired;
  EXPECT_EQ(counts_text(checks), "1 repaired, 2 failing");
  EXPECT_EQ(counts_text({}), "nothing to compare");
}

}  // namespace
}  // namespace fatune
