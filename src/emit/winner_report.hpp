#pragma once

#include <string>
#include <vector>

#include "emit/document/document.hpp"
#include "emit/document/field.hpp"
#include "report/winner_check.hpp"

namespace fatune {

/// Winners that were measured again. JSON: configs/schema/verify_winner.schema.json.
[[nodiscard]] Document winner_document(const WinnerReport& report);

/// Notes beside the table: another GPU model, another driver, the reliability of the comparison
/// with the file. Lines without a final line break.
[[nodiscard]] std::string winner_notes(const WinnerReport& report);

/// The columns of the list of winners.
[[nodiscard]] const std::vector<Field<WinnerCheck>>& winner_check_fields();

[[nodiscard]] std::string_view verdict_name(WinnerVerdict verdict);  ///< "confirmed", "beaten", ...

}  // namespace fatune
