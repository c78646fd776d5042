#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sass/profile.hpp"

namespace fatune {

struct BeforeAfter {
  std::int64_t before = 0;
  std::int64_t after = 0;

  [[nodiscard]] std::int64_t delta() const { return after - before; }
  /// Returns nothing if there was none before.
  [[nodiscard]] std::optional<double> relative_percent() const {
    return before == 0
               ? std::nullopt
               : std::optional(100.0 * static_cast<double>(delta()) / static_cast<double>(before));
  }
};

struct CountChange {
  std::string what;  ///< a class, or an opcode with its modifiers
  BeforeAfter main_loop;
  BeforeAfter total;
};

/// The greatest change of the main loop comes first, then of the whole function. Classes and
/// opcodes that neither profile has are left out.
[[nodiscard]] std::vector<CountChange> class_changes(const SassProfile& a, const SassProfile& b);
[[nodiscard]] std::vector<CountChange> opcode_changes(const SassProfile& a, const SassProfile& b);

}  // namespace fatune
