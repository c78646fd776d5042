#pragma once

#include <functional>
#include <string>

#include "plan/expression.hpp"

namespace fatune {

/// The expression as C++ that calls the functions of runtime/expression_math.hpp (namespace
/// `math`), and has the same value: "a + 2 * b" is "(a + (2.0 * b))". `code_of_name` gives the C++
/// for a name, in the order in which names stand in the text.
[[nodiscard]] std::string cpp_of(
    const Expression& expression,
    const std::function<std::string(const std::string&)>& code_of_name);

/// A number as C++ writes it, such that it reads back as the same: "64.0", "0.1".
[[nodiscard]] std::string cpp_number(double value);

}  // namespace fatune
