#pragma once

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/config.hpp"
#include "core/named_value.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a configuration however it is written: demangled kernel name, typed form, short form (see
/// parse_kernel_name and parse_short_form). Error(usage) naming what could not be read. That the
/// kernel can be built is not its concern: see check_valid.
[[nodiscard]] Config parse_config(const Family& family, std::string_view text);

/// {"dtype": "FP16", "d_head": 128, ..., "async_copy": true}
[[nodiscard]] nlohmann::ordered_json config_to_json(const Family& family, const Config& config);
/// Reads it back; also from plain json. Error(usage) naming the member that is missing, unknown or
/// of the wrong type.
[[nodiscard]] Config config_from_json(const Family& family, const nlohmann::json& object);

/// The values with their names, in the family's order.
[[nodiscard]] std::vector<NamedValue> named_values(const Family& family, const Config& config);

}  // namespace fatune
