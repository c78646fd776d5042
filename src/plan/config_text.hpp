#pragma once

#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a configuration in any form: demangled kernel name, typed form or short form (see
/// parse_kernel_name and parse_short_form). Throws Error(usage) naming what could not be read. Does
/// not check that the kernel can be built: see check_valid.
[[nodiscard]] Config parse_config(const Family& family, std::string_view text);

/// The values with their names, in the family's order.
[[nodiscard]] std::vector<NamedValue> named_values(const Family& family, const Config& config);

}  // namespace fatune
