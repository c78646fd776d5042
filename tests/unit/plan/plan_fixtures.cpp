#include "unit/plan/plan_fixtures.hpp"

#include <fstream>

#include "base/json_file.hpp"
#include "model/device_limits.hpp"
#include "plan/config_text.hpp"
#include "unit/base/temp_folder.hpp"

namespace fatune::fixtures {

const Family& flash() {
  static const Family family = load_family(FileTree{}, "flash_sm80");
  return family;
}

const DeviceLimits& h200() {
  static const DeviceLimits limits = load_device_limits(FileTree{}, Arch{90, 'a'});
  return limits;
}

Config flash_config(const std::string& text) { return parse_config(flash(), text); }

std::string toy_folder() { return FATUNE_TESTS_FOLDER "/families/toy_attention"; }

FileTree toy_tree() {
  FileTree tree;
  tree.overlay_kernels(toy_folder());
  return tree;
}

nlohmann::json toy_json() {
  return parse_json(read_disk_file(toy_folder() + "/family.json"), "family.json");
}

Family load_changed(const nlohmann::json& family_json) {
  const TempFolder folder;
  folder.write("family.json", family_json.dump());
  folder.write("toy_attention.cu", "extern \"C\" __global__ void toy_attention() {}");
  FileTree tree;
  tree.overlay_kernels(folder.path());
  return load_family(tree, "toy_attention");
}

std::vector<std::string> golden_lines(const std::string& name) {
  std::ifstream stream(FATUNE_TESTS_FOLDER "/golden/" + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace fatune::fixtures
