#pragma once

#include <string>
#include <utility>

#include "cli/program.hpp"

namespace fatune::testing_cli {

/// Runs fatune on one of tests/families, of which every kernel goes wrong in a way of its own.
class FamilyTest : public ProgramTest {
 protected:
  explicit FamilyTest(const std::string& name)
      : kernel_dir_(FATUNE_SOURCE_DIR "/tests/families/" + name) {}

  [[nodiscard]] const std::string& kernel_dir() const { return kernel_dir_; }

  /// Kernels with the same code share one measurement: then what one does wrong would not run at
  /// all. The problem that a sweep without their runs reports.
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
