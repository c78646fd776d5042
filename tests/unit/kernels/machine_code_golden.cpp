#include "unit/kernels/machine_code_golden.hpp"

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "exhaustive.hpp"
#include "golden_file.hpp"
#include "gpu/compiler.hpp"
#include "gpu/cubin_elf.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

std::string hash_of(const FileTree& files, const Family& family, const MachineCodeCase& on) {
  const DeviceLimits limits = load_device_limits(files, on.arch);
  const auto result = compile(compile_request({family, on.config, on.problem, limits}));
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw std::runtime_error(failed->log);
  }
  return machine_code_hash(std::get<Artifact>(result));
}

nlohmann::json read_recorded(const std::string& name) {
  std::ifstream file(testing_golden::golden_file(name));
  return nlohmann::json::parse(file);
}

}  // namespace

void expect_machine_code(const FileTree& files, const Family& family,
                         const std::vector<MachineCodeCase>& cases, const std::string& name) {
  const bool updates = testing_golden::updates_golden();
  const nlohmann::json recorded = updates ? nlohmann::json() : read_recorded(name);
  if (!updates && recorded["toolchain"] != toolchain_name()) {
    GTEST_SKIP() << name << " is of " << recorded["toolchain"] << ", and this is "
                 << toolchain_name() << ": nothing is compared";
  }
  nlohmann::ordered_json hashes;
  std::size_t index = 0;
  for (const MachineCodeCase& on : cases) {
    const std::string key = fmt::format("{} {} {}", short_form(family, on.config),
                                        describe(on.problem), arch_name(on.arch));
    const bool compiles = updates || is_taken(index++, 0, 4);
    hashes[key] = compiles ? hash_of(files, family, on) : recorded["machine_code"].value(key, "");
  }
  const nlohmann::ordered_json golden{{"toolchain", toolchain_name()}, {"machine_code", hashes}};
  testing_golden::expect_golden(golden.dump(2) + "\n", name);
}

}  // namespace fatune
