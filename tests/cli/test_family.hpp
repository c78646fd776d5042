#pragma once

#include <string>
#include <utility>

#include "cli/program.hpp"

namespace fatune::testing_cli {

/// Runs fatune on one of tests/families in which every kernel fails in its own way.
class FamilyTest : public ProgramTest {
 protected:
  explicit FamilyTest(const std::string& name)
      : kernel_dir_(FATUNE_SOURCE_DIR "/tests/families/" + name) {}

  [[nodiscard]] const std::string& kernel_dir() const { return kernel_dir_; }

  /// Checks that no two kernels have the same code. Kernels with the same code share one
  /// measurement, so a failure of one of them would never run. Returns the problem of a sweep that
  /// does not run the kernels.
  nlohmann::json expect_different_code() {
    use_fake_worker(nlohmann::json::object());
    const nlohmann::json report =
        fatune_json({"sweep", "--kernel-dir", kernel_dir_, "--seq", "128", "--batch", "1",
                     "--heads", "1", "--no-db", "--format", "json"});
    nlohmann::json problem = report["problems"][0];
    for (const nlohmann::json& entry : problem["ranking"]) {
      EXPECT_TRUE(entry["same_code_as"].is_null()) << entry["config"];
    }
    return problem;
  }

 private:
  const std::string kernel_dir_;
};

}  // namespace fatune::testing_cli
