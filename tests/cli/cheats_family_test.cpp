// The family whose kernels save their work when they are not looked at, as far as three emulated
// launches show it; tests/gpu/cheats_sweep.py runs them on a GPU.
#include <map>
#include <string>

#include "cli/program.hpp"

namespace fatune::testing_cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CheatsFamily : public ProgramTest {
 protected:
  static inline const std::string kFolder = FATUNE_SOURCE_DIR "/tests/families/cheats";

  /// The name of the cheat in a configuration's short form.
  static std::string cheat_of(const json& row) {
    const std::string config = row["config"];
    const std::size_t begin = config.find("64, ") + 4;
    return config.substr(begin, config.find(')') - begin);
  }
};

TEST_F(CheatsFamily, AreFoundWithoutAGpuWhereThreeLaunchesShowThem) {
  const ProcessResult result = fatune({"emulate", "--kernel-dir", kFolder, "--space", "early",
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

// Kernels with the same code share one measurement: then a cheat would not run at all.
TEST_F(CheatsFamily, NoTwoHaveTheSameCode) {
  use_fake_worker(json::object());
  const json report = fatune_json({"sweep", "--kernel-dir", kFolder, "--seq", "128", "--batch", "1",
                                   "--heads", "1", "--no-db", "--format", "json"});
  const json& problem = report["problems"][0];
  EXPECT_EQ(problem["ranking"].size(), 16U);
  EXPECT_EQ(problem["failures"].size(), 0U);
  for (const json& entry : problem["ranking"]) {
    EXPECT_TRUE(entry["same_code_as"].is_null()) << entry["config"];
  }
}

}  // namespace
}  // namespace fatune::testing_cli
