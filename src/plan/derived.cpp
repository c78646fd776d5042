#include "plan/derived.hpp"

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace fatune {

std::string read_identifier(const JsonNode& node) {
  std::string text = node.text();
  if (!is_identifier(text)) {
    node.fail(fmt::format("'{}' is not an identifier", text),
              "use a letter or underscore, then letters, digits and underscores, at most 64");
  }
  return text;
}

std::size_t add_symbol(SymbolTable& symbols, const JsonNode& node, Needs needs) {
  try {
    return symbols.add(read_identifier(node), needs);
  } catch (const std::invalid_argument& error) {
    node.fail(error.what(),
              "each parameter, problem and device property and derived quantity "
              "needs a name of its own");
  }
}

std::vector<Derived> read_derived(const std::vector<JsonNode>& list, SymbolTable& symbols) {
  std::vector<Derived> derived;
  for (const JsonNode& node : list) {
    Expression value(node.at("value").text(), symbols, node.at("value").where());
    const std::size_t symbol = add_symbol(symbols, node.at("name"), value.needs());
    derived.push_back({symbols.name(symbol), node.at("unit").text(), node.at("doc").text(), symbol,
                       std::move(value)});
  }
  return derived;
}

}  // namespace fatune
