#include "emit/evaluation_lines.hpp"

#include "core/ranges.hpp"
#include "emit/document/document.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

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
