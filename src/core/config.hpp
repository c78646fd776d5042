#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace fatune {

/// A parameter's value. Enumerators are stored as their numeric code (FP16 = 5, BF16 = 15) and
/// flags as 0 or 1, so that lexicographic order is the documented sort order.
using ParamValue = std::int64_t;

/// One point of a kernel family's space: values in the order of the family's parameters. The family
/// defines what they mean and how they are written (plan/family.hpp).
struct Config {
  std::string family;
  std::vector<ParamValue> values;

  auto operator<=>(const Config&) const = default;
};

}  // namespace fatune
