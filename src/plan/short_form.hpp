#pragma once

#include <string>
#include <string_view>

#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// "(FP16, 128, 64, 64, 4): async+eager+swizzled+load_0_2_2_tiles+buffer+opt_softmax": the tuple,
/// then the flags that are on and the patterns, in the family's order.
[[nodiscard]] std::string short_form(const Family& family, const Config& config);

/// Reads it back: any white space, enumerators in any case, flags in any order, and the whole
/// framed by '|' as a table cell. Error(usage) naming what could not be read, where, and the
/// flags there are.
[[nodiscard]] Config parse_short_form(const Family& family, std::string_view text);

/// The grammar as the user types it: "(dtype, d_head, ...): async+...": for messages and --help.
[[nodiscard]] std::string short_form_usage(const Family& family);

}  // namespace fatune
