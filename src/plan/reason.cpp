#include "plan/reason.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/mapped.hpp"

namespace fatune {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& where,
                       const std::string& remedy) {
  throw Error(ExitCode::bad_file, what, where, remedy);
}

}  // namespace

Reason::Reason(const std::string& text, const SymbolTable& symbols, const std::string& where,
               Needs known) {
  std::size_t start = 0;
  for (std::size_t open = 0; (open = text.find('{', start)) != std::string::npos;) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) {
      fail("the '{' has no '}'", where, "{name} stands for the value of a parameter");
    }
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto symbol = symbols.find(name);
    if (!symbol || !symbols.needs(*symbol).within(known)) {
      fail(fmt::format("unknown name '{}' in braces", name), where,
           fmt::format("names known here: {}", fmt::join(symbols.names(known), ", ")));
    }
    needs_.problem = needs_.problem || symbols.needs(*symbol).problem;
    needs_.device = needs_.device || symbols.needs(*symbol).device;
    holes_.push_back({text.substr(start, open - start), *symbol, name});
    start = close + 1;
  }
  tail_ = text.substr(start);
}

std::string Reason::render(std::span<const double> scope,
                           std::span<const Parameter> parameters) const {
  std::string text;
  for (const Hole& hole : holes_) {
    const double value = scope[hole.symbol];
    text += hole.text_before;
    text += hole.symbol < parameters.size()
                ? value_text(parameters[hole.symbol], static_cast<ParamValue>(value))
                : symbol_text(hole.name, value);
  }
  return text + tail_;
}

std::vector<std::size_t> Reason::symbols() const { return mapped(holes_, &Hole::symbol); }

std::string Reason::text() const {
  std::string text;
  for (const Hole& hole : holes_) {
    text += hole.text_before + hole.name;
  }
  return text + tail_;
}

}  // namespace fatune
