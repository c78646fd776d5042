#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/json_file.hpp"
#include "plan/expression.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a name that expressions use. Throws Error(bad_file) if it is not an identifier.
[[nodiscard]] std::string read_identifier(const JsonNode& node);

/// Adds a name to those that expressions may use. Throws Error(bad_file) if it is taken.
std::size_t add_symbol(SymbolTable& symbols, const JsonNode& node, Needs needs);

/// Reads a list of quantities. Each may use those before it, and is added to `symbols`.
[[nodiscard]] std::vector<Derived> read_derived(const std::vector<JsonNode>& list,
                                                SymbolTable& symbols);

}  // namespace fatune
