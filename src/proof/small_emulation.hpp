#pragma once

#include <optional>
#include <vector>

#include "gpu/cubin_cache.hpp"
#include "model/emulation.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"
#include "proof/emulate_kernel.hpp"
#include "proof/emulated_inputs.hpp"
#include "proof/kernel_counts.hpp"

namespace fatune {

/// A launch that is cheap to emulate and stands for a configuration on a problem.
struct SmallLaunch {
  EmulatedLaunch launch;
  CompileRequest request;
  bool same_code = false;  ///< `request` gives the machine code of the problem itself
};

/// A configuration to verify on the problem that the small one stands for, and what that needs.
struct SmallCase : ConfigCase {
  CubinCache* cache = nullptr;  ///< may be null
  /// The configuration on another problem.
  [[nodiscard]] ConfigCase on(const Problem& other) const {
    return {family, config, other, limits};
  }
};

/// Returns small launches in the order in which to try them. The first runs one head of
/// small_problem(), if the machine code and the grid allow that. The second runs all blocks of
/// small_problem() with at most two heads, and may have other code. Launches that the family cannot
/// build or launch are left out.
[[nodiscard]] std::vector<SmallLaunch> small_launches(const SmallCase& of);

/// Work counted on the small problem and, if the problem itself is longer, on a longer one too.
struct CountedSamples {
  CountedSample shorter;
  std::optional<CountedSample> longer;
};

/// The result of emulating a configuration on a small problem.
struct SmallEmulation {
  EmulatedConfig row;
  EmulatedProblem on;
  std::optional<CountedSamples> work = std::nullopt;  ///< only if right and requested
  std::int64_t narrow_window = 0;                     ///< also right with this window; 0: none
};

/// Returns the late schedule, then the random schedule of the seed.
[[nodiscard]] std::vector<NamedSchedule> small_schedules(std::uint64_t seed);

/// Emulates a configuration on the first suitable one of its small_launches(). `artifact` was
/// compiled for the problem itself, and has its PTX; it may be null. Code with line information is
/// compiled if `artifact` is null, if the small launch has other code, or if `artifact` has
/// findings. The outcome is "not_covered" if the configuration could not be emulated. A
/// configuration that is right is also emulated on narrow_problem(), if there is one. If it is
/// wrong, flagged or stopped there, that result is returned. Safe to call from several threads.
[[nodiscard]] SmallEmulation emulate_small(const SmallCase& of, const Artifact* artifact,
                                           const EmulationSettings& settings,
                                           EmulatedInputs& inputs);

/// Describes the verification: small problem and schedules in words, and errors for each input.
[[nodiscard]] Verification verification_of(const SmallEmulation& emulated,
                                           const EmulationSettings& settings, std::uint64_t seed);

}  // namespace fatune
