#pragma once

#include <string>

#include "emit/document/table.hpp"

namespace fatune {

/// Drops the rows for which the expression does not hold or is unknown. It may use columns whose
/// names are identifiers, `true` and `false`. Texts are quoted, and compare in sorting order.
/// Throws Error(usage).
void filter_rows(Table& table, const std::string& expression);

}  // namespace fatune
