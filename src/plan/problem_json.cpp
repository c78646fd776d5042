#include "plan/problem_json.hpp"

namespace fatune {
namespace {

DetailValue detail_in(const nlohmann::json& json) {
  if (json.is_boolean()) {
    return json.get<bool>();
  }
  return json.is_number() ? DetailValue(json.get<double>()) : DetailValue(json.get<std::string>());
}

}  // namespace

DetailValues read_details(const JsonNode& node) {
  DetailValues details;
  for (const ProblemDetail& detail : kProblemDetails) {
    const auto found = node.find(std::string(detail.name));
    if (found && !found->raw().is_null()) {
      details[&detail] = held_value(detail, detail_in(found->raw()));
    }
  }
  return details;
}

Problem read_problem(const JsonNode& node) {
  Problem problem{node.at("batch").integer(),           node.at("seq_len").integer(),
                  node.at("heads").integer(),           node.at("d_head").integer(),
                  parse_dtype(node.at("dtype").text()), node.at("causal").boolean()};
  for (const auto& [detail, value] : read_details(node)) {
    set_detail(*detail, problem, value);
  }
  return problem;
}

}  // namespace fatune
