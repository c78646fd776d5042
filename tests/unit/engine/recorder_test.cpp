#include "engine/session.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "unit/base/temp_folder.hpp"

namespace fatune {
namespace {

using ::testing::ElementsAre;

ProblemReport problem_of(std::int64_t seq_len) {
  ProblemReport report;
  report.problem = {1, seq_len, 1, 64, DType::fp16, false};
  return report;
}

std::vector<std::int64_t> lengths(const RunReport& report) {
  std::vector<std::int64_t> lengths;
  for (const ProblemReport& problem : report.problems) {
    lengths.push_back(problem.problem.seq_len);
  }
  return lengths;
}

TEST(Recorder, ProblemsStandInTheirOrderWhicheverIsDoneFirst) {
  Recorder recorder({}, {});
  recorder.add(2, problem_of(384));
  recorder.add(0, problem_of(128));
  recorder.add(3, problem_of(512));
  recorder.add(1, problem_of(256));
  EXPECT_THAT(lengths(recorder.report()), ElementsAre(128, 256, 384, 512));
}

TEST(Recorder, TheFilesFollowTheRun) {
  const fixtures::TempFolder folder;
  const auto read = [&] {
    return nlohmann::json::parse(std::ifstream(folder.path() / "results.json"));
  };
  RunReport header;
  header.measured = true;
  header.complete = false;
  header.gpus = 2;
  Recorder recorder(header, {folder.path(), {}, false, {}});
  recorder.add(0, problem_of(128));
  recorder.settle();
  EXPECT_EQ(read()["problems"].size(), 1U);
  EXPECT_EQ(read()["complete"], false);
  recorder.close(true, 0.0);
  EXPECT_EQ(read()["complete"], true);
  EXPECT_EQ(read()["gpus_used"], 2);
  EXPECT_GT(recorder.report().wall_s, 0.0);
}

TEST(Recorder, FilesThatCannotBeWrittenAreTriedAgain) {
  const fixtures::TempFolder folder;
  std::ofstream(folder.path() / "out") << "in the folder's place";
  Recorder recorder({}, {folder.path() / "out", {}, false, {}});
  recorder.add(0, problem_of(128));
  recorder.settle();
  ASSERT_TRUE(recorder.file_error());
  EXPECT_EQ(recorder.file_error()->code(), ExitCode::io);
  std::filesystem::remove(folder.path() / "out");
  recorder.close(true, 0.0);
  EXPECT_FALSE(recorder.file_error());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "out" / "results.json"));
}

}  // namespace
}  // namespace fatune
