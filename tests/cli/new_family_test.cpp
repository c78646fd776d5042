// Tests the kernel family that `fatune new-family` writes.
#include "cli/program.hpp"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class NewFamily : public ProgramTest {
 protected:
  std::string write_family() {
    expect_ok(fatune({"new-family", path("mine")}));
    return path("mine");
  }
};

TEST_F(NewFamily, NamesItsFilesAndTheNextCommands) {
  const ProcessResult result = fatune({"new-family", path("mine/")});
  expect_ok(result);
  EXPECT_THAT(result.err, AllOf(HasSubstr("mine/family.json"), HasSubstr("mine/mine.cu"),
                                HasSubstr("mine/spaces/mine.json"),
                                HasSubstr("fatune check --kernel-dir " + path("mine"))));
  for (const char* file : {"mine/family.json", "mine/mine.cu", "mine/spaces/mine.json"}) {
    EXPECT_THAT(read(file), AllOf(HasSubstr("mine"), Not(HasSubstr("my_attention")))) << file;
  }
}

TEST_F(NewFamily, ASweepWithoutAGpuVerifiesItByEmulation) {
  const json report =
      fatune_json({"sweep", "--kernel-dir", write_family(), "--seq", "100", "--dhead", "64",
                   "--dtype", "bf16", "--causal", "--strict", "--format", "json"});
  ASSERT_EQ(report["problems"].size(), 1U);
  for (const json& problem : report["problems"]) {
    EXPECT_EQ(problem["ranking"].size(), 6U);
    for (const json& entry : problem["ranking"]) {
      EXPECT_EQ(entry["verified"], "emulated") << entry["config"];
    }
  }
}

TEST_F(NewFamily, CheckAndDebugFindItRightOnRaggedAndCausalProblems) {
  const std::vector<std::string> of{"--kernel-dir", write_family(), "--config",
                                    "(FP16, 64, 32, 16)"};
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", "--small"}, {"debug"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), of.begin(), of.end());
    expect_ok(fatune(arguments));
  }
}

TEST_F(NewFamily, AGpuMeasuresIt) {
  use_fake_gpu();
  const json report =
      fatune_json({"run", "--kernel-dir", write_family(), "--config", "(FP16, 64, 32, 32)", "--seq",
                   "70", "--batch", "2", "--heads", "1", "--repeats", "5", "--format", "json"});
  EXPECT_EQ(report["problems"][0]["ranking"][0]["verified"], "gpu");
}

TEST_F(NewFamily, SmallestFamilyJsonHasNoRulesQuantitiesOptionsOrFlags) {
  const std::string folder = write_family();
  json family = json::parse(read("mine/family.json"));
  family.erase("validity");
  for (const char* absent : {"derived", "options"}) {
    EXPECT_FALSE(family.contains(absent));
  }
  EXPECT_FALSE(family["short_form"].contains("flags"));
  write("mine/family.json", family.dump());
  const json report = fatune_json({"run", "--kernel-dir", folder, "--config",
                                   "(FP16, 64, 32, 32):", "--seq", "64", "--format", "json"});
  EXPECT_EQ(report["problems"][0]["ranking"][0]["config"], "(FP16, 64, 32, 32)");
  expect_ok(fatune({"run", "--kernel-dir", folder, "--config", "(FP16, 64, 32, 32)", "--seq", "64",
                    "--no-emulate"}));
}

TEST_F(NewFamily, AnUndefinedNameIsExplained) {
  const std::string folder = write_family();
  std::string kernel = read("mine/mine.cu");
  kernel.replace(kernel.find("negative_infinity()"), 19, "-INFINITY");
  write("mine/mine.cu", kernel);
  const ProcessResult result =
      fatune({"compile", "--kernel-dir", folder, "--config", "(FP16, 64, 32, 32)"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("\"INFINITY\" is undefined"),
                                HasSubstr("__int_as_float(0x7f800000)")));
}

TEST_F(NewFamily, ARaceWithTheNextIterationIsExplainedOnce) {
  std::string source = read(write_family() + "/mine.cu");
  const std::string barrier = "    __syncthreads();  // all threads have used the tile before\n";
  ASSERT_NE(source.find(barrier), std::string::npos);
  source.erase(source.find(barrier), barrier.size());
  write("mine/mine.cu", source);
  const ProcessResult result =
      fatune({"emulate", "--kernel-dir", path("mine"), "--config", "(FP16, 64, 64, 32)"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::failed_outcomes));
  EXPECT_THAT(result.out, ContainsRegex("Line [0-9]+ comes first: in a loop, line [0-9]+ is in a "
                                        "later iteration. Is a barrier missing after line"));
  const std::string lead = "The one place to look at first";
  EXPECT_EQ(result.out.find(lead), result.out.rfind(lead));
  EXPECT_THAT(result.out, HasSubstr("at the same places as (FP16, 64, 64, 32) on"));
}

TEST_F(NewFamily, EmulatingAProblemThatItCannotComputeIsAnError) {
  expect_error(
      fatune({"emulate", "--kernel-dir", write_family(), "--dhead", "256"}),
      ExitCode::nothing_ranked,
      {"mine can build no configuration of space mine", "d_head is 256; mine understands"});
}

/// A family whose configurations with 64 rows need all the time and memory that there is.
class EndlessCompilation : public NewFamily {
 protected:
  EndlessCompilation() {
    write("mine/mine.cu", read(write_family() + "/mine.cu") + R"(
template <int N, int M>
struct Tree { static constexpr int v = Tree<N - 1, M>::v + Tree<N - 1, M + (1 << N)>::v; };
template <int M>
struct Tree<0, M> { static constexpr int v = M; };
__device__ int value_of_tree() { return Tree<FATUNE_ROWS == 64 ? 28 : 2, 0>::v; }
)");
  }
};

TEST_F(EndlessCompilation, CostsItsConfigurationAlone) {
  const ProcessResult result =
      run_process({"/bin/sh", "-c", "ulimit -d 600000; exec \"$0\" \"$@\"", FATUNE_PROGRAM,
                   "compile", "--kernel-dir", path("mine"), "--config", "(FP16, 64, 32, 16)",
                   "--config", "(FP16, 64, 64, 16)", "--format", "json"},
                  process_);
  expect_ok(result);
  const json kernels = json::parse(result.out)["configs"];
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0]["status"], "compiled");
  EXPECT_EQ(kernels[1]["status"], "compiler_crashed");
  EXPECT_THAT(kernels[1]["detail"].get<std::string>(), HasSubstr("needs more memory"));
  EXPECT_THAT(kernels[1]["log"].get<std::string>(), HasSubstr("mine.cu"));
}

TEST_F(EndlessCompilation, EndsWhenTheUserInterrupts) {
  std::chrono::steady_clock::time_point interrupted;
  process_.when_err_has = "NOT MEASURED";
  process_.then = [&](pid_t pid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    interrupted = std::chrono::steady_clock::now();
    ::kill(pid, SIGINT);
  };
  const ProcessResult result =
      fatune({"run", "--kernel-dir", path("mine"), "--config", "(FP16, 64, 64, 16)", "--seq", "128",
              "--device", "none", "--no-emulate"});
  EXPECT_EQ(result.exit_code, static_cast<int>(ExitCode::interrupted)) << result.err;
  EXPECT_LT(std::chrono::steady_clock::now() - interrupted, std::chrono::seconds(3));
}

TEST_F(NewFamily, NothingIsOverwritten) {
  const std::string folder = write_family();
  write("mine/mine.cu", "changed");
  std::filesystem::remove(path("mine/family.json"));
  expect_error(fatune({"new-family", folder}), ExitCode::io, {"mine.cu", "exists already"});
  EXPECT_EQ(read("mine/mine.cu"), "changed");
  EXPECT_FALSE(std::filesystem::exists(path("mine/family.json"))) << "all or nothing";
}

TEST_F(NewFamily, NamesThatNoFamilyCanHaveAreRefused) {
  expect_error(fatune({"new-family", path("my-kernel")}), ExitCode::usage,
               {"'my-kernel'", "letters, digits and underscores"});
  expect_error(fatune({"new-family", path("flash_sm80")}), ExitCode::usage,
               {"'flash_sm80'", "choose another name"});
  expect_error(fatune({"new-family"}), ExitCode::usage, {"DIR"});
}

}  // namespace
}  // namespace fatune::testing_cli
