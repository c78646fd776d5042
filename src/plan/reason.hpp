#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json_file.hpp"
#include "base/text_parts.hpp"
#include "plan/expression.hpp"
#include "plan/parameter.hpp"

namespace fatune {

/// A value of a family that may depend on the configuration. The file has either the value itself,
/// or a list of {"when": expression, "value": ...}, of which the first that holds is taken.
template <typename Value>
struct Choice {
  struct Item {
    std::optional<Expression> when;  ///< absent: always
    Value value;
  };

  std::string where;  ///< file and pointer, for messages
  std::vector<Item> items;

  /// Returns null if none holds.
  [[nodiscard]] const Value* find(std::span<const double> scope) const {
    const auto item = std::ranges::find_if(
        items, [&](const Item& one) { return !one.when || one.when->holds(scope); });
    return item == items.end() ? nullptr : &item->value;
  }
  /// Throws Error(bad_file), which names the conditions, if none holds.
  [[nodiscard]] const Value& of(std::span<const double> scope) const {
    if (const Value* value = find(scope)) {
      return *value;
    }
    const std::string conditions =
        joined(items, "; ", [](const Item& item) { return item.when->text(); });
    throw Error(ExitCode::bad_file, "no \"when\" holds for the configuration: " + conditions, where,
                "end the list with an item without \"when\"");
  }
};

/// True for a list of {"when", "value"}.
[[nodiscard]] inline bool is_choice_list(const JsonNode& node) { return node.raw().is_array(); }

/// Reads a Choice. `read_value` makes a Value from the node of one.
template <typename ReadValue>
[[nodiscard]] auto read_choice(const JsonNode& node, const SymbolTable& symbols,
                               ReadValue read_value)
    -> Choice<decltype(read_value(std::declval<const JsonNode&>()))> {
  Choice<decltype(read_value(std::declval<const JsonNode&>()))> choice{node.where(), {}};
  if (!is_choice_list(node)) {
    choice.items.push_back({std::nullopt, read_value(node)});
    return choice;
  }
  for (const JsonNode& item : node.elements()) {
    choice.items.push_back({find_expression(item, "when", symbols), read_value(item.at("value"))});
  }
  return choice;
}

/// The text a user reads when a rule applies, with {name} for the value of a parameter or derived
/// quantity, and {expression} for a number: "needs {smem_bytes} bytes", "{BLOCK_N - 8} keys".
class Reason {
 public:
  /// Throws Error(bad_file) on an unknown name, one that needs more than `known`, an unclosed
  /// brace, or an expression that cannot be read.
  Reason(const std::string& text, const SymbolTable& symbols, const std::string& where,
         Needs known = {.problem = true, .device = true});
  /// The same for the text and the place of a node.
  Reason(const JsonNode& node, const SymbolTable& symbols)
      : Reason(node.text(), symbols, node.where()) {}

  /// `parameters` are the first symbols of the scope. Their values are written as users write them.
  [[nodiscard]] std::string render(std::span<const double> scope,
                                   std::span<const Parameter> parameters) const;
  [[nodiscard]] Needs needs() const { return needs_; }
  /// What is in the braces: the symbol of a plain name, or an expression.
  struct Hole {
    std::string text_before;
    std::size_t symbol = 0;
    std::string name;  ///< the text in the braces
    std::optional<Expression> expression;
  };
  [[nodiscard]] const std::vector<Hole>& holes() const { return holes_; }
  /// The text with names and expressions in place of values, without their braces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Hole> holes_;
  std::string tail_;
  Needs needs_;
};

}  // namespace fatune
