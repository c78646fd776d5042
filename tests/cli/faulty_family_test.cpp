// Tests the family whose kernels fail, as far as possible without a GPU. tests/gpu/faults_sweep.py
// runs them on one.
#include "cli/test_family.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class FaultyFamily : public FamilyTest {
 protected:
  FaultyFamily() : FamilyTest("faulty") {}

  /// The configurations and statuses of rows that are not "compiled".
  static std::vector<std::pair<std::string, std::string>> not_compiled(const json& report) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const json& row : report["configs"]) {
      if (row["status"] != "compiled") {
        rows.emplace_back(row["config"], row["status"]);
      }
    }
    return rows;
  }
};

TEST_F(FaultyFamily, ListsGoodOnesAmongFaultyOnes) {
  const ProcessResult result = fatune({"list", "--kernel-dir", kernel_dir()});
  expect_ok(result);
  expect_golden(result.out, "list_faulty.txt");
}

TEST_F(FaultyFamily, CompilesButForTheCompileErrorAndTheSharedMemory) {
  for (const char* arch : {"sm_80", "sm_90", "sm_103", "sm_120", "sm_121"}) {
    const json report =
        fatune_json({"compile", "--kernel-dir", kernel_dir(), "--arch", arch, "--format", "json"});
    using Rows = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(report["configs"].size(), 18U);
    EXPECT_EQ(not_compiled(report), (Rows{{"(FP16, 64, compile_error): turns_1", "compile_failed"},
                                          {"(FP16, 64, too_much_smem): turns_2", "unlaunchable"}}))
        << arch;
  }
}

TEST_F(FaultyFamily, NoTwoHaveTheSameCode) {
  const json problem = expect_different_code();
  EXPECT_EQ(problem["ranking"].size(), 16U);
  EXPECT_EQ(problem["failures"].size(), 2U);
  EXPECT_THAT(problem.dump(), HasSubstr("this kernel is meant not to compile"));
}

}  // namespace
}  // namespace fatune::testing_cli
