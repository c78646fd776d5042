#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/emulated_family.hpp"

namespace fatune::testing_cli {

inline const std::string kDecodeFolder = FATUNE_SOURCE_DIR "/kernels/flash_decode";
inline const std::string kDecodeConfig = "(FP16, 64, 8, 64, 2, 1): parts_256";

/// Runs flash_decode on problems of whose tensors it is told in its arguments.
class DecodeArguments : public ProgramTest {
 protected:
  /// Measures a configuration on the fake GPU.
  static std::vector<std::string> run_of(const std::string& problem) {
    return with({"run", "--config", kDecodeConfig, "--repeats", "2", "--warmup", "0", "-q"},
                "--seq 1 --heads 2 --kv-heads 1 " + problem);
  }

  /// Emulates flash_decode with a changed struct of arguments.
  nlohmann::json emulate_changed(const std::string& problem,
                                 const std::function<void(nlohmann::json&)>& change) {
    std::filesystem::copy(kDecodeFolder, folder_ / "changed",
                          std::filesystem::copy_options::recursive);
    nlohmann::json family = nlohmann::json::parse(read("changed/family.json"));
    for (nlohmann::json& member : family["arguments"].back()["struct"]) {
      change(member);
    }
    write("changed/family.json", family.dump());
    return fatune_json(with({"emulate", "--kernel-dir", path("changed"), "--config", kDecodeConfig},
                            "--seq 1 --heads 2 --format json --schedules 1 " + problem),
                       ExitCode::failed_outcomes)["configs"][0];
  }
};

}  // namespace fatune::testing_cli
