#include "cli/program.hpp"

#include <filesystem>
#include <set>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Compile : public ProgramTest {};

TEST_F(Compile, WritesCubinAndPtxWithTheirFacts) {
  const ProcessResult result = fatune({"compile", "--arch", "sm_80", "--out", path("out"), "--ptx",
                                       "--config", kConfig, "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "compile");
  const json row = json::parse(result.out)["configs"][0];
  EXPECT_EQ(row["status"], "compiled");
  EXPECT_GT(row["registers_per_thread"], 32);
  EXPECT_EQ(row["dynamic_smem_bytes"], (64 + 2 * 32) * 128 * 2);
  EXPECT_EQ(row["threads_per_block"], 128);
  EXPECT_GE(row["blocks_per_sm"], 1);
  EXPECT_EQ(std::filesystem::file_size(std::string(row["cubin_file"])) > 1000, true);
  EXPECT_THAT(
      read("out/" + std::filesystem::path(std::string(row["ptx_file"])).filename().string()),
      HasSubstr(".target sm_80"));
}

TEST_F(Compile, WhatIsCompiledInHasAFileOfItsOwn) {
  const auto file_of = [&](const std::vector<std::string>& problem) {
    std::vector<std::string> command{"compile",  "--arch", "sm_80",    "--out", path("out"),
                                     "--config", kConfig,  "--format", "json"};
    command.insert(command.end(), problem.begin(), problem.end());
    const std::string file = fatune_json(command)["configs"][0]["cubin_file"];
    return std::filesystem::path(file).filename().string();
  };
  const std::string stem =
      "flash_sm80_FP16_128_64_32_4_async_eager_swizzled_load_2_2_2_tiles_opt_softmax";
  EXPECT_EQ(file_of({}), stem + ".min_blocks-3.row_stride-2048.sm_80.cubin");
  const std::vector<std::string> problems[]{{"--causal"},
                                            {"--seq", "1000"},
                                            {"--seq", "96"},
                                            {"--heads", "8"},
                                            {"--seq", "1000", "--causal"}};
  std::set<std::string> names{file_of({})};
  for (const auto& problem : problems) {
    names.insert(file_of(problem));
    EXPECT_EQ(file_of(problem), file_of(problem));
  }
  EXPECT_EQ(names.size(), 6U);
  EXPECT_EQ(file_of({"--seq", "2048"}), file_of({})) << "the same code";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("out")),
                          std::filesystem::directory_iterator()),
            6);
}

TEST_F(Compile, WithoutAHomeNothingIsKeptAndThatIsSaidOnce) {
  process_.environment.erase("XDG_CACHE_HOME");
  process_.environment.erase("HOME");
  const std::vector<std::string> command{"compile", "--kernel-dir", kToyFolder, "--format", "json"};
  (void)fatune(command);
  const ProcessResult result = fatune(command);
  expect_ok(result);
  EXPECT_EQ(json::parse(result.out)["configs"][0]["from_cache"], false);
  const std::string said = "compiled kernels are not kept: neither XDG_CACHE_HOME nor HOME is set";
  EXPECT_THAT(result.err, HasSubstr(said));
  EXPECT_EQ(result.err.find(said), result.err.rfind(said));
  EXPECT_THAT(fatune({"doctor"}).out, HasSubstr("limited  cubin cache: there is none"));
  expect_error(fatune({"cache", "export", path("x")}), ExitCode::io, {"no cache", "--cache-dir"});
}

TEST_F(Compile, ACacheThatOthersMayWriteIsNotUsed) {
  std::filesystem::create_directories(path("cache"));
  std::filesystem::permissions(path("cache"), std::filesystem::perms::all);
  const ProcessResult result =
      fatune({"compile", "--kernel-dir", kToyFolder, "--cache-dir", path("cache")});
  expect_ok(result);
  const std::string remedy = "'chmod go-w " + path("cache") + "'";
  EXPECT_THAT(result.err, HasSubstr(remedy));
  EXPECT_EQ(result.err.find(remedy), result.err.rfind(remedy));
  EXPECT_TRUE(std::filesystem::is_empty(path("cache")));
  EXPECT_THAT(fatune({"doctor", "--cache-dir", path("cache")}).out, HasSubstr(remedy));
  expect_error(fatune({"cache", "export", path("x"), "--cache-dir", path("cache")}), ExitCode::io,
               {remedy});
}

TEST_F(Compile, TheSecondTimeComesFromTheCache) {
  const std::vector<std::string> command{"compile", "--cache-dir", path("cache"), "--config",
                                         kConfig,   "--format",    "json"};
  EXPECT_FALSE(fatune_json(command)["configs"][0]["from_cache"]);
  EXPECT_TRUE(fatune_json(command)["configs"][0]["from_cache"]);
  std::vector<std::string> uncached = command;
  uncached.emplace_back("--no-cache");
  EXPECT_FALSE(fatune_json(uncached)["configs"][0]["from_cache"]);
}

TEST_F(Compile, AnUnusableCacheCostsAWarningOnly) {
  write("cache", "a file in place of the folder");
  const ProcessResult result =
      fatune({"compile", "--cache-dir", path("cache"), "--config", kConfig});
  expect_ok(result);
  EXPECT_THAT(result.err, HasSubstr("warning"));
}

TEST_F(Compile, AConfigurationTooLargeForTheArchitectureIsExplainedNotCompiled) {
  const json report = fatune_json({"compile", "--arch", "sm_86", "--format", "json", "--config",
                                   "(FP16, 128, 256, 128, 8): async+load_2_2_2_tiles"},
                                  ExitCode::nothing_ranked);
  EXPECT_EQ(report["configs"][0]["status"], "unlaunchable");
  EXPECT_THAT(std::string(report["configs"][0]["detail"]), HasSubstr("bytes"));
}

TEST_F(Compile, AFailedCompilationIsARowWithItsLog) {
  std::filesystem::copy(kToyFolder, path("toy"), std::filesystem::copy_options::recursive);
  write("toy/toy_attention.cu", "extern \"C\" __global__ void toy_attention() { no_such(); }\n");
  const std::vector<std::string> command{"compile", "--kernel-dir", path("toy"), "--format",
                                         "json"};
  const json report = fatune_json(command, ExitCode::nothing_ranked);
  for (const json& row : report["configs"]) {
    EXPECT_EQ(row["status"], "compile_failed");
    EXPECT_THAT(std::string(row["log"]), HasSubstr("no_such"));
  }
  std::vector<std::string> strict = command;
  strict.emplace_back("--strict");
  EXPECT_EQ(fatune(strict).exit_code, static_cast<int>(ExitCode::failed_outcomes));
}

TEST_F(Compile, WhatPtxasSerialisedIsSaid) {
  const char* const spills =
      "(ws, FP16, 128, 192, 144, 1, 12, 3): overlap+lazy+slots_1+cluster_1+persistent";
  const json row = fatune_json(
      {"compile", "--family", "flash_sm90", "--format", "json", "--config", spills})["configs"][0];
  EXPECT_EQ(row["status"], "serialized");
  EXPECT_THAT(std::string(row["detail"]), HasSubstr("C7512: wgmma.mma_async instructions are"));
  EXPECT_EQ(row["assembler_notes"], row["detail"]);
  EXPECT_GT(row["spill_store_bytes"], 0);
}

TEST_F(Compile, ALaunchIsThereForEveryFamilyAndWhatIsNotCompiledHasNone) {
  const char* const persistent =
      "(ws, FP16, 128, 128, 128, 2, 8, 2): overlap+lazy+slots_1+cluster_2+persistent";
  const ProcessResult result =
      fatune({"compile", "--config", persistent, "--seq", "4096", "--format", "json"});
  expect_ok(result);
  expect_schema(result.out, "compile");
  const json launch = json::parse(result.out)["configs"][0]["launch"];
  EXPECT_EQ(launch["cluster"], json({2, 1, 1}));
  EXPECT_EQ(launch["grid"], json({132, 1, 1})) << "one block for each SM of the device's file";
  EXPECT_EQ(launch["arguments"]["list"].size(), 5U);
  EXPECT_EQ(launch["arguments"]["list"][1]["tensor_maps"][0]["box"], json({64, 128, 1, 1, 1}));
  EXPECT_EQ(launch["arguments"]["buffers"][0]["name"], "next_tile");
  const json too_large = fatune_json({"compile", "--arch", "sm_86", "--format", "json", "--config",
                                      "(FP16, 128, 256, 128, 8): async+load_2_2_2_tiles"},
                                     ExitCode::nothing_ranked);
  EXPECT_TRUE(too_large["configs"][0]["launch"].is_null());
}

TEST_F(Compile, AFolderThatCannotBeMadeIsAnError) {
  write("plain", "x");
  expect_error(fatune({"compile", "--config", kConfig, "--out", path("plain/out")}), ExitCode::io,
               {"plain/out"});
}

}  // namespace
}  // namespace fatune::testing_cli
