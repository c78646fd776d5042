#include "cli/known_names.hpp"

#include <filesystem>

#include "app/choice/presets.hpp"
#include "core/mapped.hpp"
#include "data/file_tree.hpp"
#include "tuned/tuned_file.hpp"

namespace fatune {
namespace {

std::vector<std::string> stems(const std::string& prefix) {
  return mapped(FileTree().list(prefix), [](const std::string& path) {
    return std::filesystem::path(path).stem().string();
  });
}

}  // namespace

std::vector<std::string> known_spaces() { return stems("configs/spaces/"); }

std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const std::string& path : FileTree().list("kernels/")) {
    if (const std::filesystem::path file(path); file.filename() == "family.json") {
      names.push_back(file.parent_path().filename().string());
    }
  }
  return names;
}

std::vector<std::string> known_case_sets() { return stems("configs/cases/"); }

std::vector<std::string> known_archs() { return stems("configs/devices/"); }

std::vector<std::string> known_tuned_gpus() { return stems(kShippedWinners); }

std::vector<std::string> known_presets() { return mapped(load_presets(), &ProblemPreset::name); }

}  // namespace fatune
