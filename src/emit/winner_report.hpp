#pragma once

#include <string>
#include <vector>

#include "core/output_format.hpp"
#include "core/winner_check.hpp"
#include "emit/field.hpp"

namespace fatune {

/// Winners that were measured again; ends with a line break. JSON:
/// configs/schema/verify_winner.schema.json.
[[nodiscard]] std::string print_winner_checks(const std::vector<WinnerCheck>& checks,
                                              OutputFormat format);

/// One column of that list.
[[nodiscard]] const std::vector<Field<WinnerCheck>>& winner_check_fields();

[[nodiscard]] std::string_view verdict_name(WinnerVerdict verdict);  ///< "confirmed", "beaten", ...

}  // namespace fatune
