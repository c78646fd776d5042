#include "emit/document/field.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

struct CellText {
  int decimals;

  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    constexpr double kWhole = 10000.0;
    const int shown = decimals != kBySize ? decimals : value >= kWhole ? 0 : 2;
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, shown) : "-";
  }
  std::string operator()(const std::string& value) const { return value.empty() ? "-" : value; }
};

/// Whether a spreadsheet would evaluate the text as a formula, which may start a program.
bool begins_formula(std::string_view text) {
  constexpr std::string_view kSigns = "=+-@\t\r";
  const bool is_sign = !text.empty() && kSigns.find(text.front()) != std::string_view::npos;
  return is_sign && !whole_number<double>(text);
}

struct CsvText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  }
  std::string operator()(const std::string& value) const {
    return begins_formula(value) ? "'" + value : value;
  }
};

}  // namespace

std::string cell_text(const FieldValue& value, int decimals) {
  return std::visit(CellText{decimals}, value);
}

std::string csv_text(const FieldValue& value) { return std::visit(CsvText{}, value); }

bool is_number(const FieldValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool has_value(const FieldValue& value) { return cell_text(value, 0) != "-"; }

std::optional<std::string> text_or_none(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

}  // namespace fatune
