#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"
#include "report/emulation.hpp"

namespace fatune {

/// When asynchronous copies happen in the emulator. late_then_random: the first schedule is late,
/// and the seed determines the others.
enum class EmulatedTiming { early, late, random, late_then_random };

/// Options of `emulate`, which runs the PTX of configurations on the CPU. Batch and heads are set,
/// lengths are not. If `arch` is absent, offline_target() chooses it.
struct EmulateOptions : OfflineOptions {
  std::optional<std::int64_t> seq_len;  ///< absent: default_problems()
  std::vector<std::string> configs;     ///< instead of a space
  std::int64_t schedules = 2;
  std::uint64_t seed = 1;  ///< the seed of the inputs and of the first random schedule
  EmulatedTiming timing = EmulatedTiming::late_then_random;
  std::vector<std::string> checks = all_emulation_checks();  ///< the checks whose findings count
  bool profile = false;
  bool strict = false;
};

/// Checks whether configurations are right and well synchronised, by running their PTX on the CPU.
[[nodiscard]] ExitCode emulate_kernels(const EmulateOptions& options);

}  // namespace fatune
