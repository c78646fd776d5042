// Tests the kernel family that `fatune new-family` writes.
#include "cli/program.hpp"

#include <filesystem>

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::AllOf;
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
