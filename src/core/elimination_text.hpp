#pragma once

#include <optional>
#include <string>
#include <string_view>

// How outputs say why a configuration of a race took no more samples.
namespace fatune {

/// "eliminated in round 25"; for round 0 "eliminated at admission".
[[nodiscard]] std::string elimination_text(int round);
/// Reads the round from such a text. Returns nothing for other text.
[[nodiscard]] std::optional<int> elimination_round(std::string_view text);

}  // namespace fatune
