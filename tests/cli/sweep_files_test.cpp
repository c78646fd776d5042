// Tests the files that sweep writes.
#include "cli/program.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/stat.h>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SweepFiles : public ProgramTest {
 protected:
  ProcessResult sweep(const std::vector<std::string>& more, const std::string& space = kFewSpace) {
    std::vector<std::string> arguments{"sweep",   "--seq", "128",     "--dhead", "128",
                                       "--dtype", "fp16",  "--space", space};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fatune(arguments);
  }
};

TEST_F(SweepFiles, AllThreeAreThereAndSatisfyTheirSchemas) {
  const ProcessResult result =
      sweep({"--out", path("deep/out"), "--best", path("best.json")}, "64,32");
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("wrote " + path("deep/out/results.csv")));
  expect_schema(read("deep/out/results.json"), "results");
  expect_schema(read("deep/out/best_configs.json"), "results");
  EXPECT_THAT(read("deep/out/results.csv"), HasSubstr("B_r,B_c,n_warps"));
  EXPECT_EQ(json::parse(read("best.json"))["problems"][0]["ranking"].size(), 5U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("deep/out")),
                          std::filesystem::directory_iterator()),
            3);
}

TEST_F(SweepFiles, AreRecordedWithCommandAndToolchain) {
  expect_ok(sweep({"--best", path("best.json")}));
  const json best = json::parse(read("best.json"));
  EXPECT_THAT(std::string(best["command_line"]), HasSubstr("fatune sweep --seq 128"));
  EXPECT_FALSE(std::string(best["toolchain"]["nvrtc"]).empty());
  EXPECT_EQ(best["device"]["arch"], "sm_90a");
}

TEST_F(SweepFiles, AFolderThatCannotBeUsedIsFoundBeforeTheWork) {
  write("plain", "x");
  const ProcessResult result = sweep({"--out", path("plain/out")});
  expect_error(result, ExitCode::io, {"plain/out/results.json", "folder"});
  EXPECT_THAT(result.err, testing::Not(HasSubstr("[2/2]")));
}

TEST_F(SweepFiles, AFolderInPlaceOfTheFileIsFoundToo) {
  std::filesystem::create_directories(path("best.json"));
  expect_error(sweep({"--best", path("best.json")}), ExitCode::io, {"best.json", "folder"});
}

TEST_F(SweepFiles, ABestFileOnStandardOutputReplacesTheTable) {
  const ProcessResult result = sweep({"--best", "-"});
  expect_ok(result);
  expect_schema(result.out, "results");
  EXPECT_THAT(result.err, HasSubstr("NOT MEASURED: nothing was timed"));
  EXPECT_FALSE(std::filesystem::exists("-"));
  expect_error(sweep({"--best", "-", "--format", "json"}), ExitCode::usage,
               {"--best -", "leave out --format"});
}

TEST_F(SweepFiles, AStandardOutputNamedAsADeviceGetsTheBestFileOnce) {
  const ProcessResult result = sweep({"--best", "/dev/stdout", "--format", "csv"});
  expect_ok(result);
  const std::size_t csv = result.out.find("\ndtype,batch,") + 1;
  ASSERT_NE(csv, 0U) << result.out;
  expect_schema(result.out.substr(0, csv), "results");
}

TEST_F(SweepFiles, AFifoGetsOneDocumentAndStays) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  std::string document;
  std::thread reader([&] { document = read("fifo"); });
  const ProcessResult result =
      fatune({"sweep", "--seq", "512,1000", "--dhead", "128", "--dtype", "fp16", "--space",
              kFewSpace, "--no-emulate", "--best", path("fifo")});
  EXPECT_TRUE(std::filesystem::is_fifo(path("fifo")));
  std::fstream(path("fifo"), std::ios::in | std::ios::out);  // so that no reader waits forever
  reader.join();
  expect_ok(result);
  expect_schema(document, "results");
}

TEST_F(SweepFiles, ALinkStaysAndItsFileKeepsItsMode) {
  write("real.json", "x");
  std::filesystem::permissions(path("real.json"), std::filesystem::perms::owner_read);
  std::filesystem::create_symlink("real.json", path("link.json"));
  expect_ok(sweep({"--best", path("link.json")}));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
  EXPECT_EQ(std::filesystem::status(path("real.json")).permissions(),
            std::filesystem::perms::owner_read);
  expect_schema(read("real.json"), "results");
}

}  // namespace
}  // namespace fatune::testing_cli
