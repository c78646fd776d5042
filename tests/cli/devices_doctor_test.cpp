#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Devices : public ProgramTest {};
class Doctor : public ProgramTest {};

TEST_F(Devices, WithoutADriverSaysWhyAndWhatToDo) {
  const ProcessResult result = fatune({"devices"});
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_THAT(result.out, HasSubstr("set FATUNE_LIBCUDA to the driver"));
}

TEST_F(Devices, ShowsEachGpuWithItsLimits) {
  use_fake_gpu();
  process_.environment["FATUNE_FAKE_DEVICES"] = "2";
  const json report = fatune_json({"devices", "--format", "json"});
  ASSERT_EQ(report["devices"].size(), 2U);
  EXPECT_EQ(report["devices"][1]["index"], 1);
  EXPECT_EQ(report["devices"][1]["arch"], "sm_90a");
  EXPECT_TRUE(report["devices"][1]["usable"]);
  expect_golden(fatune({"devices"}).out, "devices_two_fake.txt");
}

TEST_F(Devices, SaysWhyAnOldOneIsUnusable) {
  use_fake_gpu();
  process_.environment["FATUNE_FAKE_CC"] = "7.5";
  const json device = fatune_json({"devices", "--format", "json"})["devices"][0];
  EXPECT_FALSE(device["usable"]);
  EXPECT_THAT(std::string(device["unusable_because"]), HasSubstr("7.5"));
  EXPECT_THAT(fatune({"devices"}).out, HasSubstr("7.5"));
}

TEST_F(Doctor, WithoutAGpuIsLimitedNotBroken) {
  const ProcessResult result = fatune({"doctor"});
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("limited  CUDA driver"));
  EXPECT_THAT(result.out, HasSubstr("fine     NVRTC"));
  EXPECT_THAT(result.out, HasSubstr("fine     kernel family flash_sm80"));
  EXPECT_THAT(result.out, HasSubstr("fine     cubin cache"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
}

TEST_F(Doctor, WithoutNvrtcIsBrokenAndSaysWhatToInstall) {
  process_.environment["FATUNE_NVRTC"] = path("libnvrtc.so");
  const ProcessResult result = fatune({"doctor"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::internal));
  EXPECT_THAT(result.out,
              HasSubstr("broken   NVRTC: NVRTC cannot be loaded: " + path("libnvrtc.so")));
  EXPECT_THAT(result.out, HasSubstr("pip install 'nvidia-cuda-nvrtc"));
}

TEST_F(Doctor, WithoutNvrtcWhatCompilesSaysSoAndOthersWork) {
  process_.environment["FATUNE_NVRTC"] = path("libnvrtc.so");
  expect_error(fatune({"compile", "--config", kConfig}), ExitCode::bad_file,
               {"NVRTC cannot be loaded", "pip install"});
  EXPECT_THAT(fatune({"--version"}).out, HasSubstr("NVRTC none"));
  expect_ok(fatune({"list", "--space", kFewSpace}));
}

TEST_F(Doctor, WithAGpuNamesIt) {
  use_fake_gpu();
  const ProcessResult result = fatune({"doctor"});
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("fine     GPU 0 Fake H200"));
}

TEST_F(Doctor, AnUnwritableCacheIsFoundWithItsRemedy) {
  write("cache", "a file in place of the folder");
  const json report = fatune_json({"doctor", "--cache-dir", path("cache"), "--format", "json"});
  for (const json& check : report["checks"]) {
    if (check["subject"] == "cubin cache") {
      EXPECT_EQ(check["health"], "limited");
      EXPECT_THAT(std::string(check["remedy"]), HasSubstr("--cache-dir"));
      return;
    }
  }
  FAIL() << "no check of the cache: " << report;
}

TEST_F(Doctor, ADamagedDatabaseIsFoundAndNoneIsMade) {
  process_.environment["XDG_DATA_HOME"] = path("data");
  EXPECT_THAT(fatune({"doctor"}).out, HasSubstr("fine     database of measurements: none yet"));
  EXPECT_FALSE(std::filesystem::exists(path("data")));
  std::filesystem::create_directories(path("data/fatune"));
  write("data/fatune/fatune.db", "no database");
  EXPECT_THAT(fatune({"doctor"}).out, HasSubstr("limited  database of measurements"));
}

TEST_F(Doctor, SaysWhenClocksAreNotKnown) {
  use_fake_gpu();
  process_.environment["FATUNE_LIBNVML"] = path("no library");
  EXPECT_THAT(fatune({"doctor"}).out, HasSubstr("limited  clocks of GPU 0: NVML reports nothing"));
}

TEST_F(Doctor, ADriverThatDoesNotStartIsNamed) {
  use_fake_gpu();
  process_.environment["FATUNE_FAKE_FAIL"] = "cuInit=999";
  const ProcessResult result = fatune({"doctor"});
  expect_ok(result);
  EXPECT_THAT(result.out, HasSubstr("CUDA_ERROR_UNKNOWN"));
}

}  // namespace
}  // namespace fatune::testing_cli
