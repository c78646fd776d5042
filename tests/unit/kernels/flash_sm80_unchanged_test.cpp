// Compares a hash of the machine code of each plain problem. Code for other problems must not
// change it.
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/file_tree.hpp"
#include "exhaustive.hpp"
#include "golden_file.hpp"
#include "gpu/compiler.hpp"
#include "gpu/cubin_elf.hpp"
#include "model/device_limits.hpp"
#include "plan/config_text.hpp"
#include "plan/family.hpp"
#include "plan/planner.hpp"
#include "plan/space.hpp"

namespace fatune {
namespace {

constexpr const char* kHashes = "flash_sm80_machine_code.json";
constexpr std::size_t kEvery = 9;  // one in nine configurations of the spaces is used

/// One configuration on one problem.
struct PlainCase {
  Config config;
  Problem problem;
  Arch arch;
};

const FileTree& files() {
  static const FileTree tree;
  return tree;
}

const Family& flash_sm80() {
  static const Family loaded = load_family(files(), "flash_sm80");
  return loaded;
}

/// `index` decides whether the problem is aligned or ragged, causal or not, and for which of the
/// two architectures that fatune has measured on.
PlainCase case_of(const Config& config, std::size_t index) {
  const auto value = [&](const char* name) {
    return config.values.at(find_parameter(flash_sm80(), name).value());
  };
  Problem problem{
      16, index % 2 == 0 ? 4096 : 1000, 16, value("d_head"), DType::fp16, index / 2 % 2 == 1};
  problem.dtype = static_cast<DType>(value("dtype"));
  return {config, problem, Arch{index / 4 % 2 == 0 ? 90 : 80, '\0'}};
}

std::vector<PlainCase> plain_cases() {
  std::vector<PlainCase> cases;
  const Binding all{{DType::fp16, DType::bf16}, {64, 128}};
  for (const char* space : {"prog", "tune", "progall"}) {
    const Plan plan = make_plan(flash_sm80(), load_space(files(), flash_sm80(), space), all);
    for (std::size_t i = 0; i < plan.kept.size(); i += kEvery) {
      cases.push_back(case_of(plan.kept[i], cases.size()));
    }
  }
  return cases;
}

std::string hash_of(const PlainCase& on) {
  const DeviceLimits limits = load_device_limits(files(), on.arch);
  const auto result = compile(compile_request({flash_sm80(), on.config, on.problem, limits}));
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw std::runtime_error(failed->log);
  }
  return machine_code_hash(std::get<Artifact>(result));
}

nlohmann::json read_recorded() {
  std::ifstream file(testing_golden::golden_file(kHashes));
  return nlohmann::json::parse(file);
}

std::string name_of(const PlainCase& on) {
  return fmt::format("{} {} {}", short_form(flash_sm80(), on.config), describe(on.problem),
                     arch_name(on.arch));
}

// Another compiler makes other code of the same source. Then there is nothing to compare with, and
// the test is skipped. Only a part of the cases is compiled (exhaustive.hpp).
TEST(FlashSm80Unchanged, PlainProblemsHaveTheMachineCodeTheyHad) {
  const bool updates = testing_golden::updates_golden();
  const nlohmann::json recorded = updates ? nlohmann::json() : read_recorded();
  if (!updates && recorded["toolchain"] != toolchain_name()) {
    GTEST_SKIP() << kHashes << " is of " << recorded["toolchain"] << ", and this is "
                 << toolchain_name() << ": nothing is compared";
  }
  nlohmann::ordered_json hashes;
  std::size_t index = 0;
  for (const PlainCase& on : plain_cases()) {
    const std::string name = name_of(on);
    const bool compiles = updates || is_taken(index++, 0, 4);
    hashes[name] = compiles ? hash_of(on) : recorded["machine_code"].value(name, "");
  }
  const nlohmann::ordered_json golden{{"toolchain", toolchain_name()}, {"machine_code", hashes}};
  testing_golden::expect_golden(golden.dump(2) + "\n", kHashes);
}

}  // namespace
}  // namespace fatune
