#include "commands/evaluate/lines.hpp"

#include <poll.h>
#include <unistd.h>
#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "model/record_json.hpp"
#include "plan/config_text.hpp"
#include "plan/text_cursor.hpp"
#include "print/document/document.hpp"

namespace fatune {
namespace {

bool is_readable(int descriptor, std::chrono::milliseconds within) {
  pollfd file{descriptor, POLLIN, 0};
  return ::poll(&file, 1, static_cast<int>(within.count())) > 0;
}

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
  return {family.name, mapped(family.parameters, [&](const Parameter& parameter) {
            return value_of(parameter, problem, parameters);
          })};
}

Json json_parameter(const Parameter& parameter) {
  return {{"name", parameter.name},
          {"doc", parameter.doc},
          {"bound", parameter.binds.has_value()},
          {"values", json_list(parameter.values, [&](ParamValue value) {
             return json_value(typed_value(value_text(parameter, value)));
           })}};
}

}  // namespace

std::optional<std::string> LineInput::next(std::chrono::milliseconds within) {
  if (auto line = take_line()) {
    return line;
  }
  if (!at_end_ && is_readable(descriptor_, within)) {
    read_some();
  }
  return take_line();
}

/// At the end of the input, text without a line end counts as a line.
std::optional<std::string> LineInput::take_line() {
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) {
    return at_end_ && !text_.empty() ? std::optional(std::exchange(text_, {})) : std::nullopt;
  }
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

void LineInput::read_some() {
  std::array<char, 65536> chunk{};
  const ssize_t count = ::read(descriptor_, chunk.data(), chunk.size());
  if (count < 0 && errno != EINTR && errno != EAGAIN) {
    throw Error(ExitCode::io, fmt::format("proposals cannot be read: {}",
                                          std::generic_category().message(errno)));
  }
  at_end_ = count == 0;
  text_.append(chunk.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (text_.size() > kLongestLine && text_.find('\n') == std::string::npos) {
    throw Error(ExitCode::usage, fmt::format("a line is longer than {} bytes", kLongestLine), {},
                "proposals are lines of JSON (docs/evaluate.md)");
  }
}

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

std::string ready_line(const Family& family, const Problem& problem) {
  return json_line({{"kind", "ready"},
                    {"family", family.name},
                    {"problem", record_json(problem)},
                    {"parameters", json_list(family.parameters, json_parameter)}});
}

std::string answer_line(const std::string& id, const std::string& short_form,
                        const Outcome& outcome) {
  const auto* const measured = std::get_if<Measured>(&outcome);
  const Timing* const timing = measured == nullptr ? nullptr : &measured->timing;
  return json_line({{"kind", "answer"},
                    {"id", Json::parse(id)},
                    {"config", short_form},
                    {"outcome", outcome_name(outcome)},
                    {"measured", measured != nullptr},
                    {"time_us", is_ranked(outcome) ? Json(ranked_us(outcome)) : Json()},
                    {"median_low_us", json_or_null(if_any(timing, &Timing::median_low_us))},
                    {"median_high_us", json_or_null(if_any(timing, &Timing::median_high_us))},
                    {"samples", timing == nullptr ? 0 : timing->samples_us.size()},
                    {"detail", is_ranked(outcome) ? Json() : Json(outcome_summary(outcome))}});
}

std::string refusal_line(std::int64_t line_number, const std::string& id, const std::string& what,
                         const std::string& remedy) {
  return json_line({{"kind", "refusal"},
                    {"line", line_number},
                    {"id", Json::parse(id)},
                    {"what", what},
                    {"remedy", json_or_null(remedy)}});
}

}  // namespace fatune
