#include "measure/worker_settings.hpp"

#include <filesystem>

#include "core/environment.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThisProgram = "/proc/self/exe";

std::string worker_program(bool launched) {
  if (const auto chosen = environment_variable("FATUNE_WORKER")) {
    return *chosen;
  }
  // The link stays usable after the program is rebuilt. Under a launcher it would name the
  // launcher.
  return launched ? fs::read_symlink(kThisProgram).string() : kThisProgram;
}

}  // namespace

WorkerSettings worker_settings(int device_ordinal, const std::vector<std::string>& launcher) {
  const bool launched = !launcher.empty();
  const DeadlineSettings deadlines = deadline_settings_from_environment();
  return {{worker_program(launched), launcher},
          device_ordinal,
          launched ? under_tool(deadlines) : deadlines};
}

}  // namespace fatune
