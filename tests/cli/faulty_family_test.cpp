// The family whose kernels go wrong, as far as that goes without a GPU; tests/gpu/faults_sweep.py
// runs them.
#include <algorithm>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class FaultyFamily : public ProgramTest {
 protected:
  static inline const std::string kFolder = FATUNE_SOURCE_DIR "/tests/families/faulty";

  /// Configurations and statuses that are not "compiled".
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
  const ProcessResult result = fatune({"list", "--kernel-dir", kFolder});
  expect_ok(result);
  expect_golden(result.out, "list_faulty.txt");
}

TEST_F(FaultyFamily, CompilesButForTheCompileErrorAndTheSharedMemory) {
  for (const char* arch : {"sm_80", "sm_90"}) {
    const json report =
        fatune_json({"compile", "--kernel-dir", kFolder, "--arch", arch, "--format", "json"});
    using Rows = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(report["configs"].size(), 18U);
    EXPECT_EQ(not_compiled(report), (Rows{{"(FP16, 64, compile_error): turns_1", "compile_failed"},
                                          {"(FP16, 64, too_much_smem): turns_2", "unlaunchable"}}))
        << arch;
  }
}

// Kernels with the same code share one measurement: then a fault would not run at all.
TEST_F(FaultyFamily, NoTwoHaveTheSameCode) {
  use_fake_worker(json::object());
  const json report = fatune_json({"sweep", "--kernel-dir", kFolder, "--seq", "128", "--batch", "1",
                                   "--heads", "1", "--no-db", "--format", "json"});
  const json& problem = report["problems"][0];
  EXPECT_EQ(problem["ranking"].size(), 16U);
  ASSERT_EQ(problem["failures"].size(), 2U);
  for (const json& entry : problem["ranking"]) {
    EXPECT_TRUE(entry["same_code_as"].is_null()) << entry["config"];
  }
  EXPECT_THAT(report.dump(), HasSubstr("this kernel is meant not to compile"));
}

}  // namespace
}  // namespace fatune::testing_cli
