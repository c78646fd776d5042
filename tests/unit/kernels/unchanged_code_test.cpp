// Compares a hash of the machine code of configurations with the recorded one. Code that a kernel
// gains for other problems must not change it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <ostream>
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

/// The configurations of a family that are compiled, and for which problems.
struct FamilyCode {
  const char* family;
  std::vector<const char*> spaces;
  std::size_t every;  ///< one in so many configurations of the spaces is used
  void (*change)(Problem& problem, std::size_t index);
  std::vector<Arch> archs;  ///< each has as many of the problems
};

void PrintTo(const FamilyCode& of, std::ostream* out) { *out << of.family; }

/// Aligned or ragged, causal or not.
void change_prefill(Problem& problem, std::size_t index) {
  problem.seq_len = problem.seq_len_kv = index % 2 == 0 ? 4096 : 1000;
  problem.causal = index / 2 % 2 == 1;
}

/// What else is compiled in.
void change_hopper(Problem& problem, std::size_t index) {
  change_prefill(problem, index);
  problem.lse = index % 3 == 1;
  problem.window = index % 5 == 2 ? 300 : 0;
}

/// All of a problem is in the arguments.
void change_decode(Problem& problem, std::size_t) { problem.seq_len = 1; }

const std::vector<FamilyCode>& family_codes() {
  static const std::vector<FamilyCode> all{
      {"flash_sm80", {"prog", "tune", "progall"}, 9, &change_prefill, {{90, '\0'}, {80, '\0'}}},
      {"flash_sm90", {"tune"}, 107, &change_hopper, {{90, 'a'}}},
      {"flash_decode", {"ci", "tune"}, 131, &change_decode, {{90, 'a'}}},
      {"flash_decode_sm80", {"ci", "tune"}, 163, &change_decode, {{80, '\0'}}}};
  return all;
}

const FileTree& files() {
  static const FileTree tree;
  return tree;
}

/// One configuration on one problem.
struct CodeCase {
  const Family& family;
  Config config;
  Problem problem;
  DeviceLimits limits;
};

/// `index` decides which problem it is, and for which architecture.
CodeCase case_of(const FamilyCode& of, const Family& family, const Config& config,
                 std::size_t index) {
  const auto value = [&](const char* name) {
    return config.values.at(find_parameter(family, name).value());
  };
  Problem problem{16, 4096, 16, value("d_head"), static_cast<DType>(value("dtype")), false};
  of.change(problem, index);
  return {family, config, problem,
          load_device_limits(files(), of.archs.at(index / 4 % of.archs.size()))};
}

/// Whether a configuration has a parameter that kernels came to have after this test: one for heads
/// that share keys, which these problems have none of, or one whose code is new.
bool is_new(const Family& family, const Config& config) {
  return std::ranges::any_of(std::array{"pack_gqa", "skip_max", "spare_slot"},
                             [&](const char* name) {
                               const auto parameter = find_parameter(family, name);
                               return parameter && config.values.at(*parameter) != 0;
                             });
}

std::vector<CodeCase> cases_of(const FamilyCode& of, const Family& family) {
  std::vector<CodeCase> cases;
  const Binding all{{DType::fp16, DType::bf16}, {64, 128}};
  for (const char* space : of.spaces) {
    std::vector<Config> kept = make_plan(family, load_space(files(), family, space), all).kept;
    std::erase_if(kept, [&](const Config& config) { return is_new(family, config); });
    for (std::size_t i = 0; i < kept.size(); i += of.every) {
      cases.push_back(case_of(of, family, kept[i], cases.size()));
    }
  }
  return cases;
}

std::string hash_of(const CodeCase& on) {
  const auto result = compile(compile_request({on.family, on.config, on.problem, on.limits}));
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw std::runtime_error(failed->log);
  }
  return machine_code_hash(std::get<Artifact>(result));
}

std::string golden_name(const FamilyCode& of) {
  return fmt::format("machine_code_{}.json", of.family);
}

nlohmann::json read_recorded(const std::string& name) {
  std::ifstream file(testing_golden::golden_file(name));
  return nlohmann::json::parse(file);
}

std::string name_of(const CodeCase& on) {
  return fmt::format("{} {} {}", short_form(on.family, on.config), describe(on.problem),
                     arch_name(on.limits.arch));
}

class UnchangedCode : public testing::TestWithParam<FamilyCode> {};

// Another compiler makes other code of the same source. Then there is nothing to compare with, and
// the test is skipped. Only a part of the cases is compiled (exhaustive.hpp).
TEST_P(UnchangedCode, ProblemsHaveTheMachineCodeTheyHad) {
  const bool updates = testing_golden::updates_golden();
  const std::string file = golden_name(GetParam());
  const nlohmann::json recorded = updates ? nlohmann::json() : read_recorded(file);
  if (!updates && recorded["toolchain"] != toolchain_name()) {
    GTEST_SKIP() << file << " is of " << recorded["toolchain"] << ", and this is "
                 << toolchain_name() << ": nothing is compared";
  }
  const Family family = load_family(files(), GetParam().family);
  nlohmann::ordered_json hashes;
  std::size_t index = 0;
  for (const CodeCase& on : cases_of(GetParam(), family)) {
    const std::string name = name_of(on);
    const bool compiles = updates || is_taken(index++, 0, 4);
    hashes[name] = compiles ? hash_of(on) : recorded["machine_code"].value(name, "");
  }
  const nlohmann::ordered_json golden{{"toolchain", toolchain_name()}, {"machine_code", hashes}};
  testing_golden::expect_golden(golden.dump(2) + "\n", file);
}

INSTANTIATE_TEST_SUITE_P(Families, UnchangedCode, testing::ValuesIn(family_codes()),
                         [](const auto& test) { return std::string(test.param.family); });

}  // namespace
}  // namespace fatune
