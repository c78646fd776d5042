#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/members.hpp"

namespace fatune {

/// A parameter's value. Enumerators are stored as their numeric code (FP16 = 5, BF16 = 15) and
/// flags as 0 or 1, so that configurations sort lexicographically.
using ParamValue = std::int64_t;

/// One point of a kernel family's space: values in the order of the family's parameters. The family
/// defines what they mean and how they are written (plan/family.hpp).
struct Config {
  std::string family;
  std::vector<ParamValue> values;

  auto operator<=>(const Config&) const = default;
};
FATUNE_DESCRIBED(Config, (family, "kernel family of the configuration"),
                 (values, "the values of the family's parameters, in its order"))

/// A parameter as outputs show it: value as text ("FP16", "128", "true").
struct NamedValue {
  std::string name;
  std::string text;
};

}  // namespace fatune
