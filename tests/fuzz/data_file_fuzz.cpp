// Arbitrary bytes as a family file, a space file or an expression: either they work, up to a plan,
// or they give a bad_file error. The first byte chooses between these.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "model/device_limits.hpp"
#include "plan/expression.hpp"
#include "plan/planner.hpp"
#include "unit/base/temp_folder.hpp"

namespace {

using namespace fatune;

/// A family folder that every input overwrites.
const fixtures::TempFolder& folder() {
  static const fixtures::TempFolder the_folder;
  [[maybe_unused]] static const std::filesystem::path kernel =
      the_folder.write("toy_attention.cu", "");
  return the_folder;
}

const DeviceLimits& limits() {
  static const DeviceLimits h200 = load_device_limits(FileTree{}, Arch{90, 'a'});
  return h200;
}

void use(const Family& family, const Config& config) {
  const Problem problem{2, 100, 3, 64, DType::fp16, true};
  (void)check_valid(family, config, &problem, &limits());
  (void)compile_request({family, config, problem, limits()});
  (void)check_limits({family, config, problem, limits()});
}

void family_file(std::string_view text) {
  folder().write("family.json", text);
  FileTree tree;
  tree.overlay_kernels(folder().path());
  for (const std::string& name : family_names(tree)) {
    if (name != "flash_sm80") {
      const Family family = load_family(tree, name);
      Config config{family.name, {}};
      for (const Parameter& parameter : family.parameters) {
        config.values.push_back(parameter.values.front());
      }
      use(family, config);
    }
  }
}

void space_file(std::string_view text) {
  static const Family flash = load_family(FileTree{}, "flash_sm80");
  const std::string path = folder().write("space.json", text).string();
  const Plan plan = make_plan(flash, load_space(FileTree{}, flash, path));
  if (!plan.kept.empty()) {
    use(flash, plan.kept.front());
  }
}

void expression(std::string_view text) {
  SymbolTable symbols;
  symbols.add("a", {});
  symbols.add("B_c", {});
  const Expression compiled(std::string(text), symbols, "fuzz");
  (void)compiled.number(std::vector<double>{3.0, 0.0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    bytes[0] == 'f' ? family_file(text) : bytes[0] == 's' ? space_file(text) : expression(text);
  } catch (const Error& error) {
    if (error.code() != ExitCode::bad_file) {
      std::abort();
    }
  }
  return 0;
}
