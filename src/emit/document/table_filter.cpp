#include "emit/document/table_filter.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/natural_order.hpp"
#include "plan/expression.hpp"

namespace fatune {
namespace {

constexpr const char* kFilterOption = "--filter";
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Numbers for texts, in the order of the texts: expressions compute with numbers only.
using TextNumbers = std::map<std::string, double, NaturalOrder>;

/// An expression whose quoted texts are replaced by names.
struct QuotedTexts {
  std::string expression;
  std::vector<std::string> texts;
};

std::string text_name(std::size_t index) { return fmt::format("text_{}", index + 1); }

QuotedTexts take_texts(const std::string& expression) {
  QuotedTexts taken;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char quote = expression[at];
    if (quote != '"' && quote != '\'') {
      taken.expression += quote;
      continue;
    }
    const std::size_t end = expression.find(quote, at + 1);
    if (end == std::string::npos) {
      throw Error(ExitCode::usage, fmt::format("the quote at position {} has no end", at + 1),
                  kFilterOption, "text must be in quotes, as in family == 'flash_sm90'");
    }
    taken.expression += text_name(taken.texts.size());
    taken.texts.push_back(expression.substr(at + 1, end - at - 1));
    at = end;
  }
  return taken;
}

TextNumbers number_texts(const Table& table, const std::vector<std::string>& quoted) {
  TextNumbers numbers;
  for (const std::string& text : quoted) {
    numbers[text];
  }
  for (const auto& row : table.rows) {
    for (const FieldValue& value : row) {
      if (const auto* text = std::get_if<std::string>(&value)) {
        numbers[*text];
      }
    }
  }
  double number = 0.0;
  for (auto& [text, of_text] : numbers) {
    of_text = number++;
  }
  return numbers;
}

struct AsNumber {
  const TextNumbers& texts;

  double operator()(std::monostate) const { return kUnknown; }
  double operator()(bool value) const { return value ? 1.0 : 0.0; }
  double operator()(std::int64_t value) const { return static_cast<double>(value); }
  double operator()(double value) const { return value; }
  double operator()(const std::string& value) const { return texts.at(value); }
};

/// The names that an expression may use, and where their values are.
class Scope {
 public:
  Scope(const Table& table, const std::vector<std::string>& quoted)
      : texts_(number_texts(table, quoted)) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      add_column(table.columns[i].name, i);
    }
    add_constant("true", 1.0);
    add_constant("false", 0.0);
    for (std::size_t i = 0; i < quoted.size(); ++i) {
      add_constant(text_name(i), texts_.at(quoted[i]));
    }
  }

  [[nodiscard]] const SymbolTable& symbols() const { return symbols_; }

  [[nodiscard]] std::vector<double> values_of(const std::vector<FieldValue>& row) const {
    std::vector<double> values = constants_;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i]) {
        values[i] = std::visit(AsNumber{texts_}, row[*columns_[i]]);
      }
    }
    return values;
  }

 private:
  void add_column(const std::string& name, std::size_t column) {
    if (is_identifier(name) && !symbols_.find(name)) {
      symbols_.add(name, {});
      columns_.emplace_back(column);
      constants_.push_back(kUnknown);
    }
  }
  void add_constant(const std::string& name, double value) {
    if (!symbols_.find(name)) {
      symbols_.add(name, {});
      columns_.emplace_back(std::nullopt);
      constants_.push_back(value);
    }
  }

  TextNumbers texts_;
  SymbolTable symbols_;
  std::vector<std::optional<std::size_t>> columns_;  ///< for each symbol; nothing: a constant
  std::vector<double> constants_;
};

}  // namespace

void filter_rows(Table& table, const std::string& expression) {
  const QuotedTexts quoted = take_texts(expression);
  const Scope scope(table, quoted.texts);
  try {
    const Expression holds(quoted.expression, scope.symbols(), kFilterOption);
    std::erase_if(table.rows, [&](const std::vector<FieldValue>& row) {
      return !holds.holds_if_known(scope.values_of(row)).value_or(false);
    });
  } catch (const Error& error) {
    throw Error(ExitCode::usage, error.what_was_wrong(), kFilterOption, error.remedy());
  }
}

}  // namespace fatune
