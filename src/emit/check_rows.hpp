#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/row_pattern.hpp"
#include "emit/check_report.hpp"
#include "emit/document/document.hpp"

namespace fatune {

/// A row of the output of one check.
struct CheckedRow {
  const CheckedInput* checked = nullptr;
  RowFinding found;
};

/// The columns of the CSV of `check --diff` and of the tables of the worst rows.
[[nodiscard]] const Fields<CheckedRow>& checked_row_fields();

/// The member `rows` of a check: what the rows have in common, the worst of them, and counts for
/// every position with a mismatch. null when the rows were not counted.
[[nodiscard]] Json json_checked_rows(const CheckedInput& checked);
/// A table of every row with a mismatch.
[[nodiscard]] Table checked_row_table(const std::vector<CheckedInput>& checks);
/// A line for each check whose rows were counted, which says what the wrong rows have in common. If
/// there are wrong rows, a table of the worst ones follows.
[[nodiscard]] Blocks checked_row_blocks(const std::vector<CheckedInput>& checks);

}  // namespace fatune
