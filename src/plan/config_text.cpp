#include "plan/config_text.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "plan/kernel_name.hpp"
#include "plan/short_form.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

nlohmann::ordered_json value_to_json(const Parameter& parameter, ParamValue value) {
  switch (parameter.type) {
    case ParameterType::boolean:
      return value != 0;
    case ParameterType::enumeration:
      return value_text(parameter, value);
    case ParameterType::integer:
      break;
  }
  return value;
}

ParamValue value_from_json(const Parameter& parameter, const nlohmann::json& value) {
  const bool fits = parameter.type == ParameterType::boolean       ? value.is_boolean()
                    : parameter.type == ParameterType::enumeration ? value.is_string()
                                                                   : value.is_number_integer();
  if (!fits) {
    throw Error(
        ExitCode::usage,
        fmt::format("{} is not a value of {}",
                    printable(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)),
                    parameter.name),
        {}, fmt::format("{} takes {}", parameter.name, understood_values(parameter)));
  }
  return parse_value(parameter, value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

Config parse_config(const Family& family, std::string_view text) {
  return looks_like_kernel_name(family, text) ? parse_kernel_name(family, text)
                                              : parse_short_form(family, text);
}

nlohmann::ordered_json config_to_json(const Family& family, const Config& config) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    object[family.parameters[i].name] = value_to_json(family.parameters[i], config.values.at(i));
  }
  return object;
}

Config config_from_json(const Family& family, const nlohmann::json& object) {
  if (!object.is_object()) {
    throw Error(ExitCode::usage,
                fmt::format("a configuration is an object, not {}", object.type_name()));
  }
  Config config{family.name, {}};
  for (const Parameter& parameter : family.parameters) {
    const auto found = object.find(parameter.name);
    if (found == object.end()) {
      throw Error(ExitCode::usage, fmt::format("the configuration has no '{}'", parameter.name), {},
                  "it names every parameter of " + family.name);
    }
    config.values.push_back(value_from_json(parameter, *found));
  }
  for (const auto& [name, value] : object.items()) {
    if (!find_parameter(family, name)) {
      throw Error(ExitCode::usage,
                  fmt::format("{} has no parameter '{}'", family.name, printable(name)));
    }
  }
  return config;
}

std::vector<NamedValue> named_values(const Family& family, const Config& config) {
  std::vector<NamedValue> values;
  for (std::size_t i = 0; i < family.parameters.size(); ++i) {
    values.push_back(
        {family.parameters[i].name, value_text(family.parameters[i], config.values.at(i))});
  }
  return values;
}

}  // namespace fatune
