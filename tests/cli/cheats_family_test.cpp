// Tests the family whose kernels do less work when they are not checked, as far as three emulated
// launches reveal it. tests/gpu/cheats_sweep.py runs them on a GPU.
#include <map>
#include <string>

#include "cli/test_family.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;

class CheatsFamily : public FamilyTest {
 protected:
  CheatsFamily() : FamilyTest("cheats") {}

  /// The name of the cheat in a configuration's short form.
  static std::string cheat_of(const json& row) {
    const std::string config = row["config"];
    const std::size_t begin = config.find("64, ") + 4;
    return config.substr(begin, config.find(')') - begin);
  }
};

TEST_F(CheatsFamily, AreFoundWithoutAGpuWhereThreeLaunchesShowThem) {
  const ProcessResult result = fatune({"emulate", "--kernel-dir", kernel_dir(), "--space", "early",
                                       "--seq", "40", "--heads", "1", "--format", "json"});
  EXPECT_EQ(result.exit_code, 6);
  std::map<std::string, std::string> outcomes;
  const json report = json::parse(result.out);
  for (const json& row : report["configs"]) {
    outcomes[cheat_of(row)] = row["outcome"];
  }
  EXPECT_EQ(outcomes.at("none"), "right");
  EXPECT_EQ(outcomes.at("saved_answers"), "right") << "each launch has the same inputs";
  for (const char* wrong : {"same_inputs", "odd_launches", "half_keys", "skip", "next_launch",
                            "unless_poisoned", "no_maximum"}) {
    EXPECT_NE(outcomes.at(wrong), "right") << wrong;
  }
}

TEST_F(CheatsFamily, NoTwoHaveTheSameCode) {
  const json problem = expect_different_code();
  EXPECT_EQ(problem["ranking"].size(), 16U);
  EXPECT_EQ(problem["failures"].size(), 0U);
}

}  // namespace
}  // namespace fatune::testing_cli
