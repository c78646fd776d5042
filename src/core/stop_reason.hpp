#pragma once

#include <string_view>

namespace fatune {

/// Why a race took no more samples.
enum class StopReason {
  not_yet,      ///< the caller gave up (the user interrupted it), or the race is not finished
  fixed_count,  ///< exhaustive: each candidate has all its samples
  target,       ///< intervals of the winner and of those tied with it are as narrow as requested
  noise,        ///< more samples no longer make the intervals narrower
  budget,       ///< the time is used up
  round_limit,
  nobody_left,  ///< every candidate was withdrawn
};

/// "interrupted", "fixed count", "target reached", ...: the names in outputs.
[[nodiscard]] std::string_view stop_reason_name(StopReason reason);
/// Throws Error(bad_file) if there is no reason of that name.
[[nodiscard]] StopReason parse_stop_reason(std::string_view name);

}  // namespace fatune
