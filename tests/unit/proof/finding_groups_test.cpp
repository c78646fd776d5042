#include "proof/findings.hpp"

#include <gmock/gmock.h>

namespace fatune {
namespace {

using testing::ElementsAre;

EmulatedFinding finding_at(const char* check, const char* kind, std::int64_t ptx_line,
                           SourceChain source) {
  EmulatedFinding finding;
  finding.check = check;
  finding.kind = kind;
  finding.ptx_line = ptx_line;
  finding.source = std::move(source);
  finding.memory = "sK stage 1 [row 2, col 8]";
  return finding;
}

EmulatedFinding race(std::int64_t ptx_line, SourceChain source, std::int64_t other_line,
                     SourceChain other) {
  EmulatedFinding finding = finding_at("race", "race", ptx_line, std::move(source));
  finding.other = EmulatedAccess{"write", other_line, "st.shared", std::move(other), 0, 1};
  return finding;
}

std::vector<std::int64_t> numbers(std::vector<EmulatedFinding> findings) {
  static_cast<void>(group_findings(findings));
  std::vector<std::int64_t> all;
  for (const EmulatedFinding& finding : findings) {
    all.push_back(finding.group);
  }
  return all;
}

const SourceChain kCopy{{"copy.cuh", 5}, {"k.cu", 10}, {"k.cu", 50}};
const SourceChain kRead{{"mma.cuh", 3}, {"k.cu", 20}, {"k.cu", 50}};

TEST(FindingGroups, RacesPartAtTheSameTwoLinesWhateverOrderTheyRanIn) {
  std::vector<EmulatedFinding> findings{race(30, kRead, 10, kCopy), race(11, kCopy, 31, kRead),
                                        race(40, kCopy, 10, kCopy)};
  const std::vector<FindingGroup> groups = group_findings(findings);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].between, (UnorderedLines{{"k.cu", 10}, {"k.cu", 20}}));
  EXPECT_EQ(groups[0].findings, 2);
  EXPECT_THAT(groups[0].tensors, ElementsAre("sK"));
  EXPECT_EQ(groups[1].between, (UnorderedLines{{"copy.cuh", 5}, {"copy.cuh", 5}}))
      << "all of one line";
}

TEST(FindingGroups, TheSameCodeInlinedElsewhereIsTheSameCause) {
  SourceChain copy = kCopy;
  SourceChain read = kRead;
  copy.back().line = read.back().line = 60;
  EXPECT_THAT(numbers({race(30, kRead, 10, kCopy), race(300, read, 100, copy)}), ElementsAre(1, 1));
}

TEST(FindingGroups, WhatFollowsFromARaceBelongsToIt) {
  EXPECT_THAT(numbers({finding_at("sync", "pending_at_exit", 12, kCopy),
                       finding_at("init", "uninitialised", 30, kRead), race(30, kRead, 10, kCopy),
                       finding_at("init", "uninitialised", 99, kRead),
                       finding_at("mem", "out_of_bounds", 30, kRead)}),
              ElementsAre(1, 1, 1, 2, 3));
}

TEST(FindingGroups, WithoutSourceLinesEachInstructionIsAGroup) {
  EXPECT_THAT(numbers({race(30, {}, 10, {}), race(31, {}, 10, {}), race(30, {}, 11, {})}),
              ElementsAre(1, 2, 1));
}

TEST(FindingGroups, KindsAreNamedOnce) {
  std::vector<EmulatedFinding> findings{race(30, kRead, 10, kCopy), race(31, kRead, 10, kCopy),
                                        finding_at("init", "uninitialised", 30, kRead)};
  const std::vector<FindingGroup> groups = group_findings(findings);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_THAT(groups[0].kinds, ElementsAre("race", "uninitialised"));
}

}  // namespace
}  // namespace fatune
