#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "engine/choice/kernel_choice.hpp"
#include "gpu/compiler.hpp"
#include "model/device_limits.hpp"
#include "plan/problem_plan.hpp"
#include "unit/engine/toy_kernels.hpp"

namespace fatune {

/// Problems of the toy family, and a scripted compiler.
class ToyProblems {
 public:
  [[nodiscard]] Config config(const char* text) const { return toy_config(kernels, text); }

  /// `texts` are the short forms of the configurations.
  [[nodiscard]] ProblemPlan plan(std::int64_t seq_len,
                                 const std::vector<const char*>& texts) const {
    ProblemPlan plan;
    plan.problem = {1, seq_len, 1, 64, DType::fp16, false};
    for (const char* text : texts) {
      plan.configs.push_back(config(text));
    }
    return plan;
  }

  [[nodiscard]] CompileResult compile_one(const CompileRequest& request) {
    ++compilations;
    if (request.label.find(fails) != std::string::npos) {
      return CompileFailed{"scripted failure"};
    }
    Artifact artifact;
    artifact.key = same_code.empty() ? "key of " + request.label : same_code;
    artifact.cubin = {'c'};
    artifact.facts.registers_per_thread = registers;
    artifact.facts.notes = notes;
    return artifact;
  }

  const KernelSet kernels = toy_kernels();
  const FamilySet families = toy_kernels().families;
  const DeviceLimits limits = offline_target(Arch{80, '\0'}, kernels.tree, {}).limits;
  const SmRates rates = load_sm_rates(kernels.tree, limits.arch);
  std::atomic<int> compilations = 0;
  std::string fails = "nothing fails";  ///< requests with this in their label fail
  std::string same_code;                ///< the key of all artifacts, unless empty
  int registers = 64;
  std::vector<AssemblerNote> notes;
};

constexpr const char* kSmall = "(FP16, 64, 32): unroll_1";
constexpr const char* kSmallUnrolled = "(FP16, 64, 32): unroll_2";
constexpr const char* kLarge = "(FP16, 64, 64): unroll_1";
constexpr const char* kLargeUnrolled = "(FP16, 64, 64): unroll_2";

}  // namespace fatune
