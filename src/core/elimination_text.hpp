#pragma once

#include <optional>
#include <string>
#include <string_view>

// Why a configuration of a race took no more samples, as outputs say it.
namespace fatune {

/// "eliminated in round 25"; round 0: at admission.
[[nodiscard]] std::string elimination_text(int round);
/// The round of such a text; nothing for another one.
[[nodiscard]] std::optional<int> elimination_round(std::string_view text);

}  // namespace fatune
