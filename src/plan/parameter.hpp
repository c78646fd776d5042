#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.hpp"
#include "model/problem.hpp"

namespace fatune {

enum class ParameterType { boolean, integer, enumeration };

/// The property of the problem that a parameter must equal.
enum class ProblemProperty { dtype, d_head };

struct Enumerator {
  std::string name;  ///< "FP16"
  ParamValue code;   ///< 5: its value in a Config and in a kernel's name
};

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::integer;
  std::vector<ParamValue> values;       ///< the values that the kernel understands, ascending
  std::vector<Enumerator> enumerators;  ///< the names of an enumeration's values
  std::optional<ProblemProperty> binds;
  std::string doc;
};

inline constexpr std::string_view kDTypeSymbol = "dtype";  ///< the type's name in expressions

/// A value as outputs write it: "FP16", "128", "true". A code without a name is written as a
/// number, except that of an element type which the family does not have.
[[nodiscard]] std::string value_text(const Parameter& parameter, ParamValue value);

/// The value of an expression's symbol for messages: "BF16" of dtype, else the number.
[[nodiscard]] std::string symbol_text(std::string_view symbol, double value);

/// Reads what value_text writes. Enumerators may be in any case or given by their code; booleans
/// may be 0 and 1. Throws Error(usage) naming the parameter, the text and the values it takes. An
/// integer need not be one that the kernel understands: check_valid checks that.
[[nodiscard]] ParamValue parse_value(const Parameter& parameter, std::string_view text);

/// "64, 128" or "FP16, BF16", for messages.
[[nodiscard]] std::string understood_values(const Parameter& parameter);

/// The problem's value of a property, as a Config has it.
[[nodiscard]] inline ParamValue property_value(const Problem& problem, ProblemProperty property) {
  return property == ProblemProperty::dtype ? static_cast<ParamValue>(problem.dtype)
                                            : problem.d_head;
}

}  // namespace fatune
