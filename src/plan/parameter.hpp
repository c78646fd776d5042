#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/problem.hpp"
#include "core/config.hpp"

namespace fatune {

enum class ParameterType { boolean, integer, enumeration };

/// The property of the problem that a parameter must repeat.
enum class ProblemProperty { dtype, d_head };

struct Enumerator {
  std::string name;  ///< "FP16"
  ParamValue code;   ///< 5: how it stands in a Config and in a kernel's name
};

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::integer;
  std::vector<ParamValue> values;       ///< what the kernel understands, ascending
  std::vector<Enumerator> enumerators;  ///< of an enumeration
  std::optional<ProblemProperty> binds;
  std::string doc;
};

/// "FP16", "128", "true": how outputs write a value. A code without a name is written as number.
[[nodiscard]] std::string value_text(const Parameter& parameter, ParamValue value);

/// Reads what value_text writes; enumerators in any case, or their code; booleans also as 0 and 1.
/// Error(usage) naming the parameter, the text and the values it takes. An integer need not be one
/// the kernel understands: that is check_valid's finding.
[[nodiscard]] ParamValue parse_value(const Parameter& parameter, std::string_view text);

/// "64, 128" or "FP16, BF16": for messages.
[[nodiscard]] std::string understood_values(const Parameter& parameter);

/// The problem's value of a property, as it stands in a Config.
[[nodiscard]] ParamValue property_value(const Problem& problem, ProblemProperty property);

}  // namespace fatune
