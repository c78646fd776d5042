#include "app/choice/json_details.hpp"

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

}  // namespace fatune
