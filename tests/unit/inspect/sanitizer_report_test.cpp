// Parses recorded reports (tests/recorded). Where there is no recording, the report follows the
// tool's manual.
#include "inspect/sanitizer_report.hpp"
#include "base/error.hpp"

#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>

namespace fatune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string recorded_report(const std::string& name) {
  std::ifstream file(FATUNE_SOURCE_DIR "/tests/recorded/compute_sanitizer/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SanitizerReport, WhatIsRightHasNoFindings) {
  for (const char* name : {"initcheck_none.txt", "racecheck_none.txt", "synccheck_none.txt",
                           "memcheck_none.log", "racecheck_none.log"}) {
    const SanitizerReport report = parse_sanitizer_report(recorded_report(name));
    EXPECT_THAT(report.findings, IsEmpty()) << name;
    EXPECT_THAT(report.problems, IsEmpty()) << name;
    EXPECT_EQ(report.errors + report.warnings, 0) << name;
    EXPECT_TRUE(report.complete) << name;
  }
}

TEST(SanitizerReport, AWriteOutOfBoundsIsFoundAndFailedCallsAreNot) {
  const SanitizerReport report = parse_sanitizer_report(recorded_report("memcheck_far_write.txt"));
  ASSERT_EQ(report.findings.size(), 1U);
  const SanitizerFinding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, "invalid_access");
  EXPECT_EQ(finding.kernel, "faulty");
  EXPECT_EQ(finding.place, "faulty+0xd0");
  EXPECT_EQ(finding.space, "global");
  EXPECT_EQ(finding.size_bytes, 4);
  EXPECT_EQ(finding.thread, "(0,0,0)");
  EXPECT_EQ(finding.block, "(0,0,0)");
  EXPECT_THAT(finding.detail, HasSubstr("0x15bc6bec0000 is out of bounds and is 1,099,397"));
  EXPECT_EQ(report.errors, 23) << "those that were not printed are a line of their own";
  EXPECT_TRUE(report.complete);
}

TEST(SanitizerReport, ARaceNamesBothAccessesAndCountsHazards) {
  const SanitizerReport report = parse_sanitizer_report(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Race reported between Write access at broken(int *)+0x90 in broken.cu:13\n"
      "=========     and Read access at broken(int *)+0xa0 in broken.cu:14 [2048 hazards]\n"
      "=========     and Write access at broken(int *)+0xb0 in broken.cu:15 [16 hazards]\n"
      "=========\n"
      "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n");
  ASSERT_EQ(report.findings.size(), 1U);
  const SanitizerFinding& race = report.findings[0];
  EXPECT_EQ(race.kind, "race");
  EXPECT_EQ(race.what, "Race reported between Write access");
  EXPECT_EQ(race.kernel, "broken(int *)");
  EXPECT_EQ(race.space, "shared");
  EXPECT_THAT(race.against, ElementsAre("Read access at broken(int *)+0xa0 in broken.cu:14",
                                        "Write access at broken(int *)+0xb0 in broken.cu:15"));
  EXPECT_EQ(race.count, 2048 + 16);
  EXPECT_EQ(report.errors, 1);
  EXPECT_EQ(report.warnings, 1);
}

SanitizerFinding race_at(const char* place, const std::vector<std::string>& against) {
  SanitizerFinding race;
  race.kind = "race";
  race.place = place;
  race.against = against;
  return race;
}

TEST(RaceGroups, AreOfRacesWithAnInstructionInCommon) {
  std::vector<SanitizerFinding> findings{
      race_at("k+0x10", {"Read access at k+0x20"}), race_at("k+0x30", {"Write access at k+0x40"}),
      race_at("k+0x50", {"Read access at k+0x60"}), SanitizerFinding{},
      race_at("k+0x40", {"Read access at k+0x70", "Read access at k+0x20"})};
  number_race_groups(findings);
  std::vector<std::int64_t> groups;
  for (const SanitizerFinding& finding : findings) {
    groups.push_back(finding.group);
  }
  EXPECT_THAT(groups, ElementsAre(1, 1, 2, 0, 1)) << "the last joins the first two";
  EXPECT_EQ(count_groups(findings), 2);
}

// One recorded kernel lacks its barriers, the other its wait for cp.async.
TEST(SanitizerReport, RecordedRacesAreFound) {
  for (const char* name : {"racecheck_missing_barrier.log", "racecheck_missing_wait.log"}) {
    const SanitizerReport report = parse_sanitizer_report(recorded_report(name));
    EXPECT_TRUE(report.complete) << name;
    EXPECT_GT(report.findings.size(), 5U) << name;
    EXPECT_GT(report.errors, 5) << name;
    EXPECT_LT(count_groups(report.findings), static_cast<std::int64_t>(report.findings.size()))
        << name;
    for (const SanitizerFinding& finding : report.findings) {
      EXPECT_EQ(finding.kind, "race");
      EXPECT_EQ(finding.kernel, "broken_flash");
      EXPECT_GT(finding.count, 10);
      EXPECT_THAT(finding.against, Not(IsEmpty()));
      EXPECT_GT(finding.group, 0);
    }
  }
  const SanitizerReport first =
      parse_sanitizer_report(recorded_report("racecheck_missing_wait.log"));
  EXPECT_EQ(describe(first.findings.at(0)),
            "Race reported between Write access at broken_flash+0x12f0 and Read access at "
            "broken_flash+0x1b20 and Read access at broken_flash+0x1b60 and 2 more (24576 "
            "hazards)");
}

TEST(SanitizerReport, ReportsThatDifferInTheirThreadAreOne) {
  std::string text;
  for (int thread = 0; thread < 5; ++thread) {
    text +=
        "========= Barrier error detected. Divergent thread(s) in block.\n"
        "=========     at broken+0xa0 in broken.cu:61\n"
        "=========     by thread (" +
        std::to_string(thread) +
        ",0,0) in block (7,0,0)\n"
        "=========\n";
  }
  const SanitizerReport report = parse_sanitizer_report(text + "========= ERROR SUMMARY: 5 errors");
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "barrier");
  EXPECT_EQ(report.findings[0].count, 5);
  EXPECT_EQ(describe(report.findings[0]),
            "Barrier error detected. Divergent thread(s) in block at broken+0xa0 in broken.cu:61 "
            "by thread (0,0,0) in block (7,0,0) (5 times)");
}

TEST(SanitizerReport, OlderVersionsPutTheAddressFirst) {
  const SanitizerReport report = parse_sanitizer_report(
      "========= Uninitialized __global__ memory read of size 1 bytes\n"
      "=========     at 0x150 in void count<(int)256>(unsigned int const *)\n"
      "=========     by thread (1,0,0) in block (0,0,0)\n"
      "=========     Address 0x7fc406200400\n"
      "========= Uninitialized __global__ memory read of size 4 bytes\n"
      "=========     at 0xa0 in /usr/include/load.cuh:272:Load<int>\n");
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].kind, "uninitialised");
  EXPECT_EQ(report.findings[0].kernel, "void count<(int)256>(unsigned int const *)");
  EXPECT_EQ(report.findings[1].kernel, "Load<int>");
  EXPECT_FALSE(report.complete) << "it is cut off";
}

TEST(SanitizerReport, WhatIsNotKnownIsAFindingTheLessTrusted) {
  const SanitizerReport report = parse_sanitizer_report(
      "========= Something that a later version finds\n"
      "========= ERROR SUMMARY: 1 error\n");
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "other");
}

TEST(SanitizerReport, AToolThatCannotGoOnSaysSo) {
  const SanitizerReport report = parse_sanitizer_report(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Target application terminated before first instrumented API call\n"
      "========= Error: couldn't find exit code.");
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.problems,
              ElementsAre("Target application terminated before first instrumented API call"));
  EXPECT_FALSE(report.complete);
}

TEST(SanitizerReport, SeveralProcessesAreCompleteWhenAllAre) {
  SanitizerReport report = parse_sanitizer_report(recorded_report("memcheck_far_write.txt"));
  merge(parse_sanitizer_report(recorded_report("memcheck_far_write.txt")), report);
  EXPECT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].count, 2);
  EXPECT_TRUE(report.complete);
  merge(parse_sanitizer_report("========= COMPUTE-SANITIZER\n"), report);
  EXPECT_FALSE(report.complete);
}

// A log may end anywhere, and a kernel may print anything.
TEST(SanitizerReport, AnyBytesAreRead) {
  const std::string whole = recorded_report("memcheck_far_write.txt");
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    EXPECT_LE(parse_sanitizer_report(whole.substr(0, bytes)).findings.size(), 2U)
        << "its last line may be half of one";
  }
  std::mt19937 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  for (int i = 0; i < 200; ++i) {
    std::string text = whole;
    for (int change = 0; change < 50; ++change) {
      text[random() % text.size()] = static_cast<char>(byte(random));
    }
    (void)parse_sanitizer_report(text);
  }
}

TEST(SanitizerReport, AFloodIsBounded) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text +=
        "========= Invalid __shared__ read of size 99999999999999999999 bytes\n=========     at "
        "k+0x" +
        std::to_string(i) + "\n";
  }
  const SanitizerReport report = parse_sanitizer_report(text);
  EXPECT_EQ(report.findings.size(), 1000U);
  EXPECT_EQ(report.findings[0].size_bytes, 0) << "no number";
}

using ::testing::Contains;

std::vector<std::string> words_of(SanitizerTool tool) {
  return sanitizer_words(
      {"/opt/compute-sanitizer", tool, "/tmp/50%", {"flash_forward_kernel", "toy"}});
}

TEST(SanitizerCommand, LooksAtTheCandidateAloneAndLogsToAFileOfEachProcess) {
  EXPECT_THAT(
      words_of(SanitizerTool::racecheck),
      ElementsAre("/opt/compute-sanitizer", "--tool", "racecheck", "--log-file", "/tmp/50%%/%p.log",
                  "--show-backtrace", "no", "--kernel-name", "kns=flash_forward_kernel,kns=toy"));
}

TEST(SanitizerCommand, InitcheckMustSeeWhoWroteTheInputs) {
  EXPECT_THAT(words_of(SanitizerTool::initcheck), Not(Contains("--kernel-name")));
}

TEST(SanitizerCommand, MemcheckDoesNotReportWhatTheDriverSaysAnyway) {
  EXPECT_THAT(words_of(SanitizerTool::memcheck), Contains("--report-api-errors"));
}

TEST(SanitizerTools, AreReadFromALists) {
  EXPECT_THAT(parse_sanitizer_tools("racecheck,memcheck,racecheck"),
              ElementsAre(SanitizerTool::racecheck, SanitizerTool::memcheck));
  EXPECT_EQ(parse_sanitizer_tools("all").size(), 4U);
  for (const char* wrong : {"", "leakcheck", "memcheck,", "Memcheck"}) {
    EXPECT_THROW((void)parse_sanitizer_tools(wrong), Error) << wrong;
  }
}

TEST(SanitizerTools, HaveTheNamesThatTheyAreReadBy) {
  for (const SanitizerTool tool : parse_sanitizer_tools("all")) {
    EXPECT_THAT(parse_sanitizer_tools(enum_name(tool)), ElementsAre(tool));
  }
}

}  // namespace
}  // namespace fatune
