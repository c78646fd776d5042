#pragma once

#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/named_value.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a configuration however it is written: demangled kernel name, typed form, short form (see
/// parse_kernel_name and parse_short_form). Error(usage) naming what could not be read. That the
/// kernel can be built is not its concern: see check_valid.
[[nodiscard]] Config parse_config(const Family& family, std::string_view text);

/// The values with their names, in the family's order.
[[nodiscard]] std::vector<NamedValue> named_values(const Family& family, const Config& config);

}  // namespace fatune
