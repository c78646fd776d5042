#pragma once

#include <vector>

#include "counters/counter_field.hpp"

namespace fatune {

/// The sets that a figure belongs to (CounterSet), one bit each.
enum FieldSets : unsigned { kStandard = 1, kAttention = 2, kCore = 4, kAll = 7 };

struct FieldRow {
  CounterField field;
  unsigned sets = kAttention;
};

/// Every figure, in the order in which they are shown.
[[nodiscard]] const std::vector<FieldRow>& counter_field_table();

}  // namespace fatune
