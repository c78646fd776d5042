#pragma once

#include <string>
#include <string_view>

#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax": the tuple,
/// then the flags that are on and the patterns, in the family's order.
[[nodiscard]] std::string short_form(const Family& family, const Config& config);

/// Reads a short form with any white space, enumerators in any case and flags in any order. The
/// whole may be framed by '|', like a table cell. Throws Error(usage) naming what could not be
/// read, its position, and the known flags.
[[nodiscard]] Config parse_short_form(const Family& family, std::string_view text);

/// The grammar as the user types it, for messages and --help: "(dtype, d_head, ...): async+...".
[[nodiscard]] std::string short_form_usage(const Family& family);

}  // namespace fatune
