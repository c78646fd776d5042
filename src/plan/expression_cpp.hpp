#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "plan/expression.hpp"

namespace fatune {

/// The C++ for a symbol of an expression's SymbolTable.
using CodeOfSymbol = std::function<std::string(std::size_t symbol)>;

/// Translates the expression to C++ that has the same value and calls the functions of
/// runtime/expression_math.hpp (namespace `math`): "a + 2 * b" becomes "(a + (2.0 * b))".
/// `code_of_symbol` is called in the order of the names in the text.
[[nodiscard]] std::string cpp_of(const Expression& expression, const CodeOfSymbol& code_of_symbol);

/// A number as a C++ literal that reads back as the same number: "64.0", "0.1".
[[nodiscard]] std::string cpp_number(double value);

}  // namespace fatune
