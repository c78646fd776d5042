#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/enum_names.hpp"

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

template <>
inline constexpr EnumNames<7> kEnumNames<StopReason>{
    "stop reason",
    {"interrupted", "fixed count", "target reached", "noise stopped falling", "budget used up",
     "round limit", "nobody left"}};

/// "eliminated in round 25"; for round 0 "eliminated at admission".
[[nodiscard]] std::string elimination_text(int round);
/// Reads the round from such a text. Returns nothing for other text.
[[nodiscard]] std::optional<int> elimination_round(std::string_view text);

}  // namespace fatune
