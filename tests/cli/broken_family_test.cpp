// flash_sm80 with mistakes, as far as that goes without a GPU; tests/gpu/broken_check.py runs them.
#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class BrokenFamily : public ProgramTest {
 protected:
  static inline const std::string kFolder = FATUNE_SOURCE_DIR "/tests/families/broken_flash";
};

TEST_F(BrokenFamily, CompilesFromTheSourcesOfTheRightOne) {
  const json report =
      fatune_json({"compile", "--kernel-dir", kFolder, "--space", "one_each", "--arch", "sm_80",
                   "--seq", "500", "--causal", "--format", "json"});
  EXPECT_EQ(report["configs"].size(), 7U);
  for (const json& row : report["configs"]) {
    EXPECT_EQ(row["status"], "compiled") << row;
  }
}

TEST_F(BrokenFamily, HoldsEveryMistakeInThreeKernels) {
  const json list = fatune_json({"list", "--kernel-dir", kFolder, "--format", "json"});
  EXPECT_EQ(list["kept"].size(), 21U);
}

}  // namespace
}  // namespace fatune::testing_cli
