// The files that sweep writes.
#include "cli/program.hpp"

#include <filesystem>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SweepFiles : public ProgramTest {
 protected:
  ProcessResult sweep(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep",   "--seq", "512",     "--dhead", "128",
                                       "--dtype", "fp16",  "--space", "64,32"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }
};

TEST_F(SweepFiles, AllThreeAreThereAndSatisfyTheirSchemas) {
  const ProcessResult result = sweep({"--out", path("deep/out"), "--best", path("best.json")});
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("wrote " + path("deep/out/results.csv")));
  expect_schema(read("deep/out/results.json"), "results");
  expect_schema(read("deep/out/best_configs.json"), "best_configs");
  EXPECT_THAT(read("deep/out/results.csv"), HasSubstr("B_r,B_c,n_warps"));
  EXPECT_EQ(json::parse(read("best.json"))["gpus"][0]["problems"][0]["runners_up"].size(), 4U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("deep/out")),
                          std::filesystem::directory_iterator()),
            3);
}

TEST_F(SweepFiles, AreRecordedWithCommandAndToolchain) {
  expect_ok(sweep({"--best", path("best.json")}));
  const json best = json::parse(read("best.json"));
  EXPECT_THAT(std::string(best["command_line"]), HasSubstr("fatune sweep --seq 512"));
  EXPECT_FALSE(std::string(best["toolchain"]["nvrtc"]).empty());
  EXPECT_EQ(best["gpus"][0]["device"]["arch"], "sm_90");
}

TEST_F(SweepFiles, AFolderThatCannotBeUsedIsFoundBeforeTheWork) {
  write("plain", "x");
  const ProcessResult result = sweep({"--out", path("plain/out")});
  expect_error(result, ExitCode::io, {"plain/out/results.json", "folder"});
  EXPECT_THAT(result.err, testing::Not(HasSubstr("[8/8]")));
}

TEST_F(SweepFiles, AFolderInPlaceOfTheFileIsFoundToo) {
  std::filesystem::create_directories(path("best.json"));
  expect_error(sweep({"--best", path("best.json")}), ExitCode::io, {"best.json", "folder"});
}

}  // namespace
}  // namespace fatune::testing_cli
