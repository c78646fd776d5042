#include "plan/parameter.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::toupper(x) == std::toupper(y);
  });
}

/// Values are used in expressions (doubles) and C++ ints, so larger ones are not allowed.
constexpr ParamValue kGreatestValue = 2147483647;

std::optional<ParamValue> parse_number(std::string_view text) {
  const auto value = whole_number<ParamValue>(text);
  return value && *value >= 0 && *value <= kGreatestValue ? value : std::nullopt;
}

std::optional<ParamValue> parse_enumerator(const Parameter& parameter, std::string_view text) {
  const auto code = parse_number(text);
  for (const Enumerator& enumerator : parameter.enumerators) {
    if (equal_ignoring_case(enumerator.name, text) || code == enumerator.code) {
      return enumerator.code;
    }
  }
  return std::nullopt;
}

std::optional<ParamValue> try_parse(const Parameter& parameter, std::string_view text) {
  switch (parameter.type) {
    case ParameterType::boolean:
      return text == "true" || text == "1"    ? std::optional<ParamValue>(1)
             : text == "false" || text == "0" ? std::optional<ParamValue>(0)
                                              : std::nullopt;
    case ParameterType::enumeration:
      return parse_enumerator(parameter, text);
    case ParameterType::integer:
      break;
  }
  return parse_number(text);
}

}  // namespace

std::string value_text(const Parameter& parameter, ParamValue value) {
  if (parameter.type == ParameterType::boolean) {
    return value == 0 ? "false" : "true";
  }
  for (const Enumerator& enumerator : parameter.enumerators) {
    if (enumerator.code == value) {
      return enumerator.name;
    }
  }
  return parameter.binds == ProblemProperty::dtype
             ? symbol_text(kDTypeSymbol, static_cast<double>(value))
             : std::to_string(value);
}

std::string symbol_text(std::string_view symbol, double value) {
  for (const DType dtype : {DType::fp16, DType::bf16, DType::e4m3}) {
    if (symbol == kDTypeSymbol && value == static_cast<double>(dtype)) {
      return std::string(dtype_name(dtype));
    }
  }
  return fmt::format("{}", value);
}

std::string understood_values(const Parameter& parameter) {
  return joined(parameter.values, ", ",
                [&](ParamValue value) { return value_text(parameter, value); });
}

ParamValue parse_value(const Parameter& parameter, std::string_view text) {
  if (const auto value = try_parse(parameter, text)) {
    return *value;
  }
  const bool open = parameter.type == ParameterType::integer;
  throw Error(ExitCode::usage,
              fmt::format("'{}' is not a value of {}", text.substr(0, 64), parameter.name), {},
              fmt::format("{} takes {}{}", parameter.name, open ? "an integer, here one of " : "",
                          understood_values(parameter)));
}

}  // namespace fatune
