#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/row_pattern.hpp"
#include "emit/check_report.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// One row of one output.
struct CheckedRow {
  const CheckedInput* checked = nullptr;
  RowFinding found;
};

/// Columns of the CSV of `check --diff`, and of the tables of the worst rows.
[[nodiscard]] const std::vector<Field<CheckedRow>>& checked_row_fields();

/// The member `rows` of a check: what the rows have in common, the worst of them, and counts for
/// every position with a mismatch. null when the rows were not counted.
[[nodiscard]] Json json_checked_rows(const CheckedInput& checked);
/// Every row with a mismatch.
[[nodiscard]] Table checked_row_table(const std::vector<CheckedInput>& checks);
/// For each check whose rows were counted a line on what they have in common, and for wrong ones
/// the worst rows.
[[nodiscard]] Blocks checked_row_blocks(const std::vector<CheckedInput>& checks);

}  // namespace fatune
