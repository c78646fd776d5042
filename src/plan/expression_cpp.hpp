#pragma once

#include <functional>
#include <string>

#include "plan/expression.hpp"

namespace fatune {

/// Translates the expression to C++ that has the same value and calls the functions of
/// runtime/expression_math.hpp (namespace `math`): "a + 2 * b" becomes "(a + (2.0 * b))".
/// `code_of_name` returns the C++ for a name, and is called in the order of the names in the text.
[[nodiscard]] std::string cpp_of(
    const Expression& expression,
    const std::function<std::string(const std::string&)>& code_of_name);

/// A number as a C++ literal that reads back as the same number: "64.0", "0.1".
[[nodiscard]] std::string cpp_number(double value);

}  // namespace fatune
