#include "plan/reason.hpp"

#include <cmath>

#include <fmt/format.h>

namespace fatune {
namespace {

/// A number that is not whole has four significant digits.
std::string number_text(double value) {
  return value == std::floor(value) ? fmt::format("{}", value) : fmt::format("{:.4g}", value);
}

}  // namespace

Reason::Reason(const std::string& text, const SymbolTable& symbols, const std::string& where,
               Needs known) {
  std::size_t start = 0;
  for (std::size_t open = 0; (open = text.find('{', start)) != std::string::npos;) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      throw Error(ExitCode::bad_file, "the '{' has no '}'", where,
                  "{name} stands for the value of a parameter");
    }
    const Expression value(text.substr(open + 1, close - open - 1), symbols, where, known);
    needs_.add(value.needs());
    const auto symbol = symbols.find(value.text());
    holes_.push_back({text.substr(start, open - start), symbol.value_or(0), value.text(),
                      symbol ? std::nullopt : std::optional(value)});
    start = close + 1;
  }
  tail_ = text.substr(start);
}

std::string Reason::render(std::span<const double> scope,
                           std::span<const Parameter> parameters) const {
  std::string text;
  for (const Hole& hole : holes_) {
    text += hole.text_before;
    text += hole.expression ? number_text(hole.expression->number(scope))
            : hole.symbol < parameters.size()
                ? value_text(parameters[hole.symbol], static_cast<ParamValue>(scope[hole.symbol]))
            : hole.name == kDTypeSymbol ? symbol_text(hole.name, scope[hole.symbol])
                                        : number_text(scope[hole.symbol]);
  }
  return text + tail_;
}

std::string Reason::text() const {
  std::string text;
  for (const Hole& hole : holes_) {
    text += hole.text_before + hole.name;
  }
  return text + tail_;
}

}  // namespace fatune
