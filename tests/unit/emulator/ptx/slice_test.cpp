#include "emulator/ptx/data_flow.hpp"

#include <gmock/gmock.h>

#include "emulator/ptx/parse_ptx.hpp"

namespace fatune {
namespace {

using testing::ElementsAre;
using testing::Pair;

const PtxFunction& loop() {
  static const PtxFunction function = parse_ptx(
                                          ".entry k() {\n.reg .pred %p<9>; .reg .b32 %r<9>;\n"
                                          "mov.u32 %r1, 0;\n"               // 0
                                          "mov.u32 %r8, 1;\n"               // 1: feeds nothing
                                          "L: ld.shared.u32 %r2, [%r1];\n"  // 2
                                          "add.s32 %r1, %r1, 4;\n"          // 3
                                          "setp.lt.s32 %p1, %r1, 64;\n"     // 4
                                          "@%p1 bra L;\n"                   // 5
                                          "st.shared.u32 [%r1], %r2;\n}",   // 6
                                          "test")
                                          .functions.at(0);
  return function;
}

std::vector<std::pair<std::size_t, int>> pairs(std::vector<std::size_t> selected, int depth) {
  std::vector<std::pair<std::size_t, int>> list;
  for (const SliceStep& step : feeding_statements(loop(), selected, depth)) {
    list.emplace_back(step.statement, step.depth);
  }
  return list;
}

TEST(FeedingStatements, GoThroughRegistersAndLoops) {
  EXPECT_THAT(pairs({6}, 0), ElementsAre(Pair(0, 2), Pair(2, 1), Pair(3, 1), Pair(6, 0)));
  EXPECT_THAT(pairs({5}, 0), ElementsAre(Pair(0, 3), Pair(3, 2), Pair(4, 1), Pair(5, 0)));
}

TEST(FeedingStatements, EndAtTheDepth) {
  EXPECT_THAT(pairs({5}, 1), ElementsAre(Pair(4, 1), Pair(5, 0)));
  EXPECT_THAT(pairs({1}, 0), ElementsAre(Pair(1, 0)));
  EXPECT_THAT(pairs({4, 5}, 1), ElementsAre(Pair(3, 1), Pair(4, 0), Pair(5, 0)));
}

std::vector<std::size_t> feeding(const std::string& body, std::size_t selected) {
  const PtxModule module =
      parse_ptx(".entry k() {\n.reg .pred %p<9>; .reg .b32 %r<9>;\n" + body + "}", "test");
  std::vector<std::size_t> list;
  for (const SliceStep& step : feeding_statements(module.functions[0], {selected}, 0)) {
    list.push_back(step.statement);
  }
  return list;
}

TEST(FeedingStatements, AnAccumulatorHasWhatCameBefore) {
  const std::string chain =
      "mov.u32 %r1, 0; add.u32 %r1, %r1, 1; add.u32 %r1, %r1, 2; add.u32 %r1, %r1, 3;";
  EXPECT_THAT(feeding(chain, 2), ElementsAre(0, 1, 2));
}

TEST(FeedingStatements, AGuardedWriteHidesNothing) {
  EXPECT_THAT(feeding("mov.u32 %r1, 0; mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; st.u32 [%r1], 0;", 3),
              ElementsAre(1, 2, 3));
}

TEST(FeedingStatements, BranchesDecideWhatArrives) {
  EXPECT_THAT(feeding("mov.u32 %r1, 0; bra L; M: mov.u32 %r1, 1; bra M; L: st.u32 [%r1], 0;", 4),
              ElementsAre(0, 4));
  EXPECT_THAT(feeding("mov.u32 %r1, 0; @%p1 bra L; mov.u32 %r1, 1; L: st.u32 [%r1], 0;", 3),
              ElementsAre(0, 2, 3));
  EXPECT_THAT(feeding("mov.u32 %r1, 0; brx.idx %r2, table; mov.u32 %r1, 1; L: st.u32 [%r1], 0;", 3),
              ElementsAre(0, 2, 3));
}

}  // namespace
}  // namespace fatune
