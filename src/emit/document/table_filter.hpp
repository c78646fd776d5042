#pragma once

#include <string>

#include "emit/document/table.hpp"

namespace fatune {

/// Drops rows of which the expression does not hold, or of which that is not known. Its names are
/// columns whose names are identifiers, `true` and `false`; texts are in quotes, and compare as
/// sorted. Error(usage).
void filter_rows(Table& table, const std::string& expression);

}  // namespace fatune
