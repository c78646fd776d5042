#pragma once

#include <optional>
#include <vector>

#include "compile/cubin_cache.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "emulation/emulate_kernel.hpp"
#include "emulation/kernel_work.hpp"
#include "emulation/small_problem.hpp"
#include "plan/family.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// Work that was counted on the small problem and, where the problem is longer, on a longer one.
struct CountedSamples {
  CountedSample shorter;
  std::optional<CountedSample> longer;
};

/// The result of emulating a configuration on a small problem.
struct SmallEmulation {
  EmulatedConfig row;
  EmulatedProblem on;
  std::optional<CountedSamples> work = std::nullopt;  ///< of a right one, if it was asked for
  std::int64_t narrow_window = 0;                     ///< that it was right with too; 0: with none
};

/// A configuration to be verified, with what is needed for it. Refers to its parts.
struct SmallCase {
  const Family& family;
  const Config& config;
  const Problem& problem;  ///< that the small one stands for
  const DeviceLimits& limits;
  CubinCache* cache = nullptr;  ///< may be null
};

/// Late, then random by the seed.
[[nodiscard]] std::vector<NamedSchedule> small_schedules(std::uint64_t seed);

/// Emulates a configuration on the first of its small_launches() that is suitable. `artifact` was
/// compiled for the problem itself, and has its PTX; where a small launch has other code, and when
/// it is null, code with line information is compiled, as it is once there are findings. Row
/// "not_covered": it could not be emulated. A configuration that is right there is emulated on
/// narrow_problem() too, where there is one, and is wrong or flagged if it is so there. Safe to
/// call from several threads.
[[nodiscard]] SmallEmulation emulate_small(const SmallCase& of, const Artifact* artifact,
                                           const EmulationSettings& settings,
                                           EmulatedInputs& inputs);

/// How it was verified: small problem and schedules in words; with one item for each input.
[[nodiscard]] Verification verification_of(const SmallEmulation& emulated,
                                           const EmulationSettings& settings, std::uint64_t seed);

}  // namespace fatune
