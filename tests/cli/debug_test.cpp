// Tests `fatune debug` without a GPU (emulated, and not), with the fake driver, whose kernels write
// nothing, and with the fake worker, whose kernels write zeros.
#include <filesystem>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class DebugCommand : public ProgramTest {
 protected:
  static std::vector<std::string> debug(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"debug", "--config", kConfig, "--seq-blocks", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// The command for tests/families/broken_flash with this mistake, emulated.
  static std::vector<std::string> broken(const std::string& fault) {
    return {"debug",
            "--kernel-dir",
            FATUNE_SOURCE_DIR "/tests/families/broken_flash",
            "--init",
            "range",
            "--causal",
            "--seq-blocks",
            "2",
            "--config",
            "(FP16, 64, 64, 32, " + fault + "): async+eager+opt_softmax"};
  }
  static std::vector<std::string> as_json(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    return arguments;
  }
  void use_faulty_worker(const std::string& what) {
    use_fake_worker({{"faults", {{{"at", "debug"}, {"do", what}}}}});
  }
  json failure_of_kernel() {
    const json report = fatune_json(debug({"--format", "json"}), ExitCode::failed_outcomes);
    EXPECT_EQ(report["verdict"], "failed");
    EXPECT_EQ(report["measured"], false);
    return report["failure"];
  }
};

TEST_F(DebugCommand, WithoutAGpuTheKernelIsEmulatedAndItSaysSo) {
  const ProcessResult table = fatune(debug());
  expect_ok(table);
  EXPECT_THAT(table.err, StartsWith("NOT RUN ON A GPU: "));
  EXPECT_THAT(table.out, AllOf(HasSubstr("\nEMULATED on the CPU, not run on a GPU"),
                               HasSubstr("all right"), Not(HasSubstr("NO KERNEL RAN"))));
  const ProcessResult result = fatune(debug({"--causal", "--device", "none", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "debug");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["measured"], false);
  EXPECT_EQ(report["emulated"], true);
  EXPECT_EQ(report["verdict"], "right");
  EXPECT_EQ(report["findings_count"], 0);
  EXPECT_EQ(report["checks"].size(), 5U * (2 + 4) + 2);
  for (const json& check : report["checks"]) {
    EXPECT_EQ(check["verdict"], "right") << check;
  }
}

/// The first wrong value that each mistake in broken_flash.cu must cause.
struct Mistake {
  std::string fault;
  std::string tensor;
  int step = 0;
  std::string cause;
};

class EmulatedMistake : public DebugCommand, public testing::WithParamInterface<Mistake> {};

TEST_P(EmulatedMistake, IsNamedByStepAndTensor) {
  const ProcessResult result = fatune(as_json(broken(GetParam().fault)));
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  expect_schema(result.out, "debug");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["verdict"], "wrong");
  EXPECT_EQ(report["emulated"], true);
  EXPECT_EQ(report["first_wrong"]["tensor"], GetParam().tensor);
  EXPECT_EQ(report["first_wrong"]["step"], GetParam().step);
  EXPECT_THAT(report["likely_cause"].get<std::string>(), HasSubstr(GetParam().cause));
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedMistake,
                         testing::Values(Mistake{"wrong_mask", "S", 0, "the mask"},
                                         Mistake{"missing_rescale", "L", 1, "the rescaling of L"},
                                         Mistake{"output_not_rescaled", "O", 1,
                                                 "would have without rescaling"},
                                         Mistake{"swapped_v_panels", "O", 0, "the product P V"},
                                         Mistake{"missing_barrier", "S", 0, "a missing barrier"},
                                         Mistake{"missing_wait", "S", 0, "copies"}),
                         [](const auto& mistake) { return mistake.param.fault; });

TEST_F(DebugCommand, WhatTheEmulatorFindsIsNamedBesideTheValues) {
  const ProcessResult table = fatune(broken("missing_wait"));
  EXPECT_THAT(table.out, AllOf(HasSubstr("FIRST WRONG: step 0"),
                               HasSubstr("\nTHE EMULATOR FLAGS IT ('fatune emulate' says more): "
                                         "race: in_flight: reads sQ or sO [row 0, col 0]")));
  const json report = fatune_json(as_json(broken("missing_barrier")), ExitCode::failed_outcomes);
  EXPECT_GT(report["findings_count"], 50);
  EXPECT_THAT(report["first_finding"].get<std::string>(),
              AllOf(StartsWith("race: reads"), HasSubstr("; the other access at ")));
  const ProcessResult right = fatune(broken("none"));
  expect_ok(right);
  EXPECT_THAT(right.out, Not(HasSubstr("FLAGS")));
}

TEST_F(DebugCommand, AnEmulatedKernelThatDoesNotEndHasFailed) {
  const json report =
      fatune_json({"debug", "--kernel-dir", FATUNE_SOURCE_DIR "/tests/families/faulty", "--seq",
                   "32", "--config", "(FP16, 64, trap): turns_1", "--format", "json"},
                  ExitCode::failed_outcomes);
  EXPECT_EQ(report["verdict"], "failed");
  EXPECT_EQ(report["failure"]["outcome"], "flagged");
  EXPECT_THAT(report["failure"]["detail"].get<std::string>(), StartsWith("trap: "));
}

TEST_F(DebugCommand, WhatCannotBeEmulatedShowsTheCpusValuesAndWhy) {
  const std::string folder =
      toy_family_with("asm volatile(\"{ .reg .s32 x; vadd.s32.s32.s32 x, 1, 2; }\");");
  const std::vector<std::string> arguments{"debug", "--kernel-dir", folder, "--config",
                                           "(FP16, 64, 32): unroll_1"};
  const ProcessResult result = fatune(arguments);
  expect_ok(result);
  EXPECT_THAT(result.out, AllOf(HasSubstr("NO KERNEL RAN"), HasSubstr("vadd")));
}

TEST_F(DebugCommand, WithoutGpuAndEmulationShowsTheCpusValuesAndSaysSo) {
  const ProcessResult table = fatune(debug({"--no-emulate"}));
  expect_ok(table);
  EXPECT_THAT(table.out, HasSubstr("NO KERNEL RAN"));
  EXPECT_THAT(table.out, Not(HasSubstr("all right")));
  const ProcessResult result = fatune(debug({"--no-emulate", "--causal", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "debug");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["measured"], false);
  EXPECT_EQ(report["emulated"], false);
  EXPECT_EQ(report["verdict"], "not_run");
  EXPECT_EQ(report["problem"]["seq_len"], 128);
  EXPECT_EQ(report["query_rows"], 64);
  EXPECT_EQ(report["keys_per_step"], 32);
  EXPECT_EQ(report["checks"].size(), 5U * (2 + 4) + 2);
  EXPECT_EQ(report["checks"][0]["verdict"], "not compared");
}

TEST_F(DebugCommand, QueriesMayBeFewerThanKeys) {
  const json report = fatune_json({"debug", "--config", kConfig, "--seq", "30", "--seq-kv", "165",
                                   "--causal", "--format", "json"});
  EXPECT_EQ(report["verdict"], "right");
  EXPECT_EQ(report["problem"]["seq_len_kv"], 165);
  EXPECT_EQ(report["checks"].size(), 5U * 6 + 1);
}

TEST_F(DebugCommand, WithoutAGpuThatIsRequiredItFails) {
  expect_error(fatune(debug({"--require-gpu"})), ExitCode::no_gpu, {"a GPU is required"});
}

TEST_F(DebugCommand, WritesEveryIntermediate) {
  expect_ok(fatune(debug({"--init", "range", "--out", path("out")})));
  for (const char* name :
       {"q", "k", "v", "s_float64", "s_16bit", "m_float64", "p_16bit", "l_float64", "o_float64",
        "o_16bit", "output_float64", "s_kernel", "output_kernel"}) {
    EXPECT_EQ(read(std::string("out/") + name + ".npy").substr(1, 5), "NUMPY") << name;
  }
  expect_schema(read("out/debug.json"), "debug");
  expect_ok(fatune(debug({"--no-emulate", "--out", path("without")})));
  EXPECT_FALSE(std::filesystem::exists(path("without/s_kernel.npy"))) << "no kernel ran";
}

TEST_F(DebugCommand, AFolderThatCannotBeWrittenIsNamedFirst) {
  write("file", "x");
  expect_error(fatune(debug({"--out", path("file")})), ExitCode::io, {path("file")});
}

TEST_F(DebugCommand, OptionsThatMakeNoSenseAreRefused) {
  expect_error(fatune(debug({"--init", "zeros"})), ExitCode::usage,
               {"'zeros' is not a kind of input",
                "normal, large_logits, dominating_key, extreme_scores, large_values, outliers, "
                "range, onehot"});
  expect_error(fatune({"debug", "--config", kConfig, "--seq", "0"}), ExitCode::usage, {"--seq"});
  expect_error(fatune({"debug"}), ExitCode::usage, {"--config"});
  expect_error(fatune(debug({"--seq", "100"})), ExitCode::usage, {"--seq"});
  expect_error(fatune(debug({"--causal", "--seq-kv", "100"})), ExitCode::usage,
               {"--seq-kv", "128 queries and 100 keys", "at least as many keys as queries"});
  expect_error(fatune({"debug", "--config", kConfig, "--seq", "8192"}), ExitCode::too_large,
               {"MiB", "use a shorter sequence"});
}

TEST_F(DebugCommand, AKernelThatWritesNothingIsWrongAtItsFirstStep) {
  use_gpu_that_never_runs_kernels();
  const ProcessResult result = fatune(debug({"--out", path("out"), "--format", "json"}));
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  expect_schema(result.out, "debug");
  const json report = json::parse(result.out);
  EXPECT_EQ(report["verdict"], "wrong");
  EXPECT_EQ(report["measured"], true);
  EXPECT_EQ(report["first_wrong"]["tensor"], "S");
  EXPECT_EQ(report["first_wrong"]["step"], 0);
  EXPECT_EQ(report["first_wrong"]["kv_tile"], 3) << "from the last tile to the first";
  EXPECT_THAT(report["likely_cause"].get<std::string>(), HasSubstr("never written"));
  EXPECT_EQ(read("out/o_kernel.npy").substr(1, 5), "NUMPY");
}

TEST_F(DebugCommand, AFamilyThatShowsNothingHasItsOutputCompared) {
  use_gpu_that_never_runs_kernels();
  const ProcessResult result =
      fatune({"debug", "--kernel-dir", kToyFolder, "--config", "(FP16, 64, 32): unroll_1"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("declares no intermediates"));
  EXPECT_THAT(result.out, HasSubstr("FIRST WRONG: output of block 0: row 0, column 0"));
}

TEST_F(DebugCommand, OnAGpuARightKernelIsRight) {
  use_fake_gpu();
  const json report = fatune_json(debug({"--format", "json"}));
  EXPECT_EQ(report["verdict"], "right");
  EXPECT_EQ(report["measured"], true);
  EXPECT_EQ(report["device"], "Fake H200");
}

TEST_F(DebugCommand, ZerosAreNamedWithWhatTheyShouldBe) {
  use_fake_worker(json::object());
  const json report =
      fatune_json(debug({"--init", "constant", "--format", "json"}), ExitCode::failed_outcomes);
  EXPECT_EQ(report["first_wrong"]["tensor"], "S");
  EXPECT_EQ(report["first_wrong"]["row"], 0);
  EXPECT_EQ(report["first_wrong"]["kernel"], 0.0);
  EXPECT_NEAR(report["first_wrong"]["float64"].get<double>(), 16.322, 1e-3)
      << "128 log2(e) / 128^.5";
}

TEST_F(DebugCommand, AKernelThatCrashesCostsAWorker) {
  use_faulty_worker("crash CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access");
  const json failure = failure_of_kernel();
  EXPECT_EQ(failure["outcome"], "crashed");
  EXPECT_THAT(failure["detail"].get<std::string>(), HasSubstr("ILLEGAL_ADDRESS"));
}

TEST_F(DebugCommand, TheRealWorkerSaysWhatTheDriverSaid) {
  use_fake_gpu();
  process_.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@name:flash";
  EXPECT_EQ(failure_of_kernel()["outcome"], "crashed");
}

TEST_F(DebugCommand, AKernelThatHangsIsGivenUp) {
  use_faulty_worker("hang");
  process_.environment["FATUNE_WATCHDOG_S"] = "0.2";
  EXPECT_EQ(failure_of_kernel()["outcome"], "timed_out");
}

TEST_F(DebugCommand, AWorkerThatDiesIsACrash) {
  use_faulty_worker("signal 11");
  EXPECT_EQ(failure_of_kernel()["outcome"], "crashed");
}

TEST_F(DebugCommand, AKernelThatDoesNotCompileIsNamedWithItsLog) {
  use_fake_gpu();
  std::filesystem::copy(FATUNE_SOURCE_DIR "/tests/families/toy_attention", path("toy"),
                        std::filesystem::copy_options::recursive);
  write("toy/toy_attention.cu", "this is no kernel");
  expect_error(
      fatune({"debug", "--kernel-dir", path("toy"), "--config", "(FP16, 64, 32): unroll_1"}),
      ExitCode::bad_file, {"does not compile", "error"});
}

}  // namespace
}  // namespace fatune::testing_cli
