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

Json head(const char* kind) {
  Json line = Json::object();
  line["kind"] = kind;
  return line;
}

Json json_parameter(const Parameter& parameter) {
  Json json = Json::object();
  json["name"] = parameter.name;
  json["doc"] = parameter.doc;
  json["bound"] = parameter.binds.has_value();
  json["values"] = json_list(parameter.values, [&](ParamValue value) {
    return json_value(typed_value(value_text(parameter, value)));
  });
  return json;
}

void add_timing(const Outcome& outcome, Json& line) {
  const auto* const measured = std::get_if<Measured>(&outcome);
  const bool timed = measured != nullptr;
  line["time_us"] = is_ranked(outcome) ? Json(ranked_us(outcome)) : Json(nullptr);
  line["median_low_us"] = timed ? Json(measured->timing.median_low_us) : Json(nullptr);
  line["median_high_us"] = timed ? Json(measured->timing.median_high_us) : Json(nullptr);
  line["samples"] = timed ? measured->timing.samples_us.size() : std::size_t{0};
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
  Json line = head("ready");
  line["family"] = family.name;
  line["problem"] = record_json(problem);
  line["parameters"] = json_list(family.parameters, json_parameter);
  return json_line(line);
}

std::string answer_line(const std::string& id, const std::string& short_form,
                        const Outcome& outcome) {
  Json line = head("answer");
  line["id"] = Json::parse(id);
  line["config"] = short_form;
  line["outcome"] = outcome_name(outcome);
  line["measured"] = std::holds_alternative<Measured>(outcome);
  add_timing(outcome, line);
  line["detail"] = is_ranked(outcome) ? Json(nullptr) : Json(outcome_summary(outcome));
  return json_line(line);
}

std::string refusal_line(std::int64_t line_number, const std::string& id, const std::string& what,
                         const std::string& remedy) {
  Json line = head("refusal");
  line["line"] = line_number;
  line["id"] = Json::parse(id);
  line["what"] = what;
  line["remedy"] = remedy.empty() ? Json(nullptr) : Json(remedy);
  return json_line(line);
}

}  // namespace fatune
