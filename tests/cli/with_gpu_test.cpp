// Tests the parts of measuring that need no working kernel, with the fake driver, on which each
// kernel takes 100 us and does nothing. verified_on_gpu_test.cpp has kernels that run.
#include "cli/program.hpp"

#include <signal.h>
#include <unistd.h>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class WithGpu : public ProgramTest {
 protected:
  WithGpu() { use_gpu_that_never_runs_kernels(); }

  static std::vector<std::string> small_run(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "--config", kConfig, "--batch", "1", "--heads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  json first_problem(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const ProcessResult result = fatune(arguments);
    expect_ok(result);
    expect_schema(result.out, "results");
    return json::parse(result.out)["problems"][0];
  }
};

TEST_F(WithGpu, ResultsAreMarkedAsMeasured) {
  const ProcessResult result =
      fatune(small_run({"--seq", "128", "--repeats", "5", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_TRUE(report["measured"]);
  EXPECT_EQ(report["device"]["name"], "Fake H200");
  EXPECT_EQ(report["policy"]["repeats"], 5);
  const json& best = report["problems"][0]["ranking"][0];
  EXPECT_EQ(best["outcome"], "measured");
  EXPECT_EQ(best["samples_us"].size(), 5U);
  EXPECT_NEAR(best["time_us"], 100.0, 1e-3);
  EXPECT_FALSE(best["verification"]["inputs"].empty());
}

TEST_F(WithGpu, TimesStandBesideWhatTheDeviceReaches) {
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  const auto arguments = small_run({"--seq", "4096", "--no-db"});
  const json problem = first_problem(arguments);
  EXPECT_NEAR(problem["matmul"]["tflops"], 856.0, 10.0) << "2.5 ms for what the peak does in 2";
  const json& best = problem["ranking"][0];
  const double tflops = best["literature_tflops"];
  EXPECT_NEAR(best["percent_of_matmul"], 100 * tflops / problem["matmul"]["tflops"].get<double>(),
              1e-6);
  EXPECT_NEAR(best["percent_of_peak_at_clock"], 100 * tflops / (4096 * 132 * 1980e-6), 1e-6);
  EXPECT_THAT(fatune(arguments).out, HasSubstr(" % of the 856 TFLOP/s that dense products"));
}

TEST_F(WithGpu, WhereTheMemoryIsTheNearerLimitRatesAreOfBytes) {
  const auto arguments = small_run({"--seq", "1", "--seq-kv", "4096", "--no-db", "--repeats", "3"});
  const json problem = first_problem(arguments);
  const double read_gb_per_s = problem["memory"]["read_gb_per_s"];
  EXPECT_NEAR(read_gb_per_s, 16 * 6291456 / 25.0 / 1e3, 0.1) << "16 times the L2 in 25 us";
  const json& best = problem["ranking"][0];
  const double bytes = 2 * 128 * (2 * 1 + 2 * 4096);
  EXPECT_EQ(best["needed_bytes"], bytes);
  EXPECT_NEAR(best["gb_per_s"], bytes / 100.0 / 1e3, 1e-3);
  EXPECT_NEAR(best["percent_of_reads"], 100 * bytes / 1e5 / read_gb_per_s, 1e-3);
  const std::string table = fatune(arguments).out;
  EXPECT_THAT(table, HasSubstr("  GB/s  "));
  EXPECT_THAT(table, HasSubstr("winner: 21 GB/s, 1 % of the 4.03 TB/s that reads reached in this "
                               "run, 0 % of the memory's 4.92 TB/s"));
}

TEST_F(WithGpu, AnotherProcessOnTheGpuIsSaidOnceAndKept) {
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  process_.environment["FATUNE_FAKE_NVML_PROCESSES"] = "self," + std::to_string(getpid());
  const ProcessResult result = fatune(small_run({"--seq", "128,256", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "results");
  const std::string other = "process " + std::to_string(getpid()) + " (";
  EXPECT_THAT(result.err, HasSubstr("times may be disturbed: " + other));
  EXPECT_EQ(result.err.find("may be disturbed"), result.err.rfind("may be disturbed"));
  const json disturbances = json::parse(result.out)["disturbances"];
  ASSERT_EQ(disturbances.size(), 1U);
  EXPECT_THAT(std::string(disturbances[0]), testing::StartsWith(other));
  EXPECT_EQ(fatune_json({"show", "last", "--format", "json"})["disturbances"], disturbances);
  EXPECT_THAT(fatune({"show", "last"}).out, HasSubstr("times may be disturbed: " + other));
}

TEST_F(WithGpu, ToolsAroundFatuneAreSaidAndKept) {
  const auto disturbed_by = [&](const char* variable, const char* value) {
    process_.environment[variable] = value;
    const json report = fatune_json(small_run({"--seq", "128", "--no-db", "--format", "json"}));
    process_.environment.erase(variable);
    return report["disturbances"];
  };
  EXPECT_EQ(disturbed_by("CUDA_LAUNCH_BLOCKING", "1"),
            json::array({"launches wait: CUDA_LAUNCH_BLOCKING=1"}));
  EXPECT_EQ(disturbed_by("CUDA_LAUNCH_BLOCKING", "0"), json::array());
  EXPECT_EQ(disturbed_by("CUDA_INJECTION64_PATH", "/opt/libsanitizer.so"),
            json::array({"a tool runs inside fatune: CUDA_INJECTION64_PATH=/opt/libsanitizer.so"}));
  EXPECT_EQ(disturbed_by("UNRELATED", "1"), json::array());
}

TEST_F(WithGpu, ATimeThatNoKernelTakesFailsItsConfiguration) {
  process_.environment["FATUNE_FAKE_KERNEL_US"] = "10000000000000";
  const ProcessResult result = fatune(small_run({"--seq", "128", "--no-db", "--format", "json"}));
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::nothing_ranked)) << result.err;
  const json failure = json::parse(result.out)["problems"][0]["failures"][0];
  EXPECT_EQ(failure["outcome"], "implausible");
  EXPECT_THAT(std::string(failure["detail"]),
              HasSubstr("10000000000000 us is not the time of a kernel"));
}

TEST_F(WithGpu, ARateOfDenseProductsThatFailsIsANote) {
  process_.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@name:matmul";
  const ProcessResult result =
      fatune(small_run({"--seq", "128", "--no-db", "--repeats", "3", "--format", "json"}));
  expect_ok(result);
  expect_schema(result.out, "results");
  EXPECT_THAT(result.err, HasSubstr("no rates of dense products and of reads"));
  EXPECT_THAT(result.err, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  const json problem = json::parse(result.out)["problems"][0];
  EXPECT_TRUE(problem["matmul"].is_null());
  EXPECT_EQ(problem["ranking"][0]["samples"], 3);
  EXPECT_TRUE(problem["ranking"][0]["percent_of_matmul"].is_null());
}

TEST_F(WithGpu, TheDriversReleaseAndItsCudaVersionAreTwoThings) {
  process_.environment["FATUNE_LIBNVML"] = FATUNE_FAKE_NVML;
  const json report =
      fatune_json(small_run({"--seq", "128", "--repeats", "2", "--format", "json"}));
  EXPECT_EQ(report["toolchain"]["driver"], "580.159.04");
  EXPECT_EQ(report["toolchain"]["driver_cuda"], "13.0");
}

TEST_F(WithGpu, OptionsOfTheMeasurementAreRecorded) {
  const json report = fatune_json(small_run({"--seq", "128", "--no-flush", "--no-gate", "--warmup",
                                             "0", "--seed", "42", "--format", "json"}));
  EXPECT_FALSE(report["policy"]["flush_l2"]);
  EXPECT_FALSE(report["policy"]["device_gate"]);
  EXPECT_EQ(report["policy"]["warmup"], 0);
  EXPECT_EQ(report["policy"]["seed"], 42);
}

TEST_F(WithGpu, ACrashCostsAProcessAndItsNeighboursAreMeasured) {
  const std::string crashing =
      "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
  process_.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@name:Li64ELi64E";  // B_r and B_c
  const auto arguments =
      small_run({"--config", crashing, "--seq", "128,256", "--repeats", "2", "--format", "json"});
  const ProcessResult result = fatune(arguments);
  expect_ok(result);
  expect_schema(result.out, "results");
  const json report = json::parse(result.out);
  EXPECT_TRUE(report["complete"]);
  ASSERT_EQ(report["problems"].size(), 2U);
  for (const json& problem : report["problems"]) {
    ASSERT_EQ(problem["ranking"].size(), 1U);
    EXPECT_EQ(problem["ranking"][0]["config"], kConfig);
    EXPECT_EQ(problem["ranking"][0]["samples"], 2);
    ASSERT_EQ(problem["failures"].size(), 1U);
    EXPECT_EQ(problem["failures"][0]["config"], crashing);
    EXPECT_EQ(problem["failures"][0]["outcome"], "crashed");
    EXPECT_THAT(std::string(problem["failures"][0]["detail"]),
                HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  }
  auto strict = arguments;
  strict.emplace_back("--strict");
  EXPECT_EQ(fatune(strict).exit_code, static_cast<int>(ExitCode::failed_outcomes));
}

TEST_F(WithGpu, TheWorkerIsNotForUsers) {
  for (const char* role : {"worker", "compile-worker"}) {
    expect_error(fatune({role}), ExitCode::usage, {"not for users", "fatune sweep"});
  }
}

TEST_F(WithGpu, AProblemThatDoesNotFitIsRefusedBeforeAnythingIsAllocated) {
  process_.environment["FATUNE_FAKE_FAIL"] = "cuMemAlloc_v2=2";
  expect_error(fatune(small_run({"--seq", "16777216"})), ExitCode::too_large, {"GiB", "free"});
}

TEST_F(WithGpu, CodeForAnotherGpuIsRefused) {
  expect_error(fatune(small_run({"--seq", "128", "--arch", "sm_80"})), ExitCode::usage,
               {"code for sm_80 does not run on Fake H200", "--device none"});
}

TEST_F(WithGpu, DeviceNoneEstimates) {
  const json report =
      fatune_json(small_run({"--seq", "128", "--device", "none", "--format", "json"}));
  EXPECT_FALSE(report["measured"]);
}

TEST_F(WithGpu, ABaselineWithoutATimeIsSaid) {
  const std::string crashing =
      "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_2_2_2_tiles+opt_softmax";
  const auto arguments =
      small_run({"--config", crashing, "--seq", "128", "--repeats", "2", "--baseline", crashing});
  const ProcessResult there = fatune(arguments);
  expect_ok(there);
  EXPECT_THAT(there.err, testing::Not(HasSubstr("the baseline")));
  process_.environment["FATUNE_FAKE_KERNEL_ERROR"] = "700@name:Li64ELi64E";  // B_r and B_c
  auto anew = arguments;
  anew.insert(anew.end(), {"--no-db"});
  const ProcessResult gone = fatune(anew);
  expect_ok(gone);
  EXPECT_THAT(gone.err, HasSubstr("b1 s128 h1 d128 FP16: the baseline has no time (crashed: "));
  EXPECT_THAT(gone.err, HasSubstr("percentages refer to the best, " + kConfig));
}

TEST_F(WithGpu, AGpuThatIsNotThere) {
  expect_error(fatune(small_run({"--seq", "128", "--device", "7"})), ExitCode::usage, {"7"});
}

TEST_F(WithGpu, AnOldGpuIsNotUsed) {
  process_.environment["FATUNE_FAKE_CC"] = "7.5";
  expect_error(fatune(small_run({"--seq", "128", "--require-gpu"})), ExitCode::no_gpu, {"7.5"});
  EXPECT_FALSE(fatune_json(small_run({"--seq", "128", "--format", "json"}))["measured"]);
}

TEST_F(WithGpu, AnInterruptWritesWhatIsThere) {
  process_.when_err_has = "[1/";
  process_.then = [](pid_t pid) { ::kill(pid, SIGINT); };
  std::vector<std::string> arguments =
      small_run({"--seq", "128", "--runs", "1000", "--out", path("out"), "--format", "json"});
  const ProcessResult result = fatune(arguments);
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::interrupted)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  const json report = json::parse(read("out/results.json"));
  EXPECT_FALSE(report["complete"]);
  EXPECT_GE(report["problems"].size(), 1U);
  EXPECT_LT(report["problems"].size(), 1000U);
  expect_schema(read("out/results.json"), "results");
}

}  // namespace
}  // namespace fatune::testing_cli
