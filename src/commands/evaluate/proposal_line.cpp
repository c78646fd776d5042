#include "commands/evaluate/proposal_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "plan/config_text.hpp"
#include "plan/text_cursor.hpp"

namespace fatune {
namespace {

constexpr const char* kForm =
    R"form(a line is {"id": ..., "config": "(...)"} or {"id": ..., "parameters": {...}})form";

[[noreturn]] void fail(const std::string& what, const std::string& remedy = kForm) {
  throw Error(ExitCode::usage, what, {}, remedy);
}

nlohmann::json parse_object(std::string_view line) {
  nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) {
    fail("it is not a JSON object");
  }
  return object;
}

ParamValue read_value(const Parameter& parameter, const nlohmann::json& value) {
  if (value.is_structured() || value.is_null()) {
    fail(fmt::format("parameters/{} is not a value", parameter.name),
         fmt::format("{} takes {}", parameter.name, understood_values(parameter)));
  }
  return parse_value(parameter, value.is_string() ? value.get<std::string>() : value.dump());
}

ParamValue value_of(const Parameter& parameter, const Problem& problem,
                    const nlohmann::json& parameters) {
  if (const auto given = parameters.find(parameter.name); given != parameters.end()) {
    return read_value(parameter, *given);
  }
  if (!parameter.binds) {
    fail(fmt::format("parameters has no {}", parameter.name),
         fmt::format("{} takes {}", parameter.name, understood_values(parameter)));
  }
  return property_value(problem, *parameter.binds);
}

Config read_parameters(const Family& family, const Problem& problem,
                       const nlohmann::json& parameters) {
  if (!parameters.is_object()) {
    fail("parameters is not an object");
  }
  for (const auto& item : parameters.items()) {
    if (!find_parameter(family, item.key())) {
      fail(fmt::format("{} has no parameter '{}'", family.name, printable(item.key())),
           "parameters: " + parameter_names(family));
    }
  }
  Config config{family.name, {}};
  for (const Parameter& parameter : family.parameters) {
    config.values.push_back(value_of(parameter, problem, parameters));
  }
  return config;
}

}  // namespace

ProposalLine read_proposal(const Family& family, const Problem& problem, std::string_view line) {
  const nlohmann::json object = parse_object(line);
  for (const auto& item : object.items()) {
    if (item.key() != "id" && item.key() != "config" && item.key() != "parameters") {
      fail(fmt::format("it has an unknown property '{}'", printable(item.key())));
    }
  }
  const std::string id = object.value("id", nlohmann::json()).dump();
  const auto config = object.find("config");
  const auto parameters = object.find("parameters");
  if ((config == object.end()) == (parameters == object.end())) {
    fail("it needs 'config' or 'parameters', but not both");
  }
  if (parameters != object.end()) {
    return {id, read_parameters(family, problem, *parameters)};
  }
  if (!config->is_string()) {
    fail("config is not text");
  }
  return {id, parse_config(family, config->get<std::string>())};
}

std::string proposal_id(std::string_view line) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  return object.is_object() && object.contains("id")
             ? object["id"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
             : "null";
}

}  // namespace fatune
