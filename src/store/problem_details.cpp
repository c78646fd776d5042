#include "store/problem_details.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

template <typename Value>
nlohmann::json optional_json(const std::optional<Value>& value) {
  return value ? record_json(*value) : nlohmann::json();
}

template <typename Value>
std::optional<Value> read_optional(const nlohmann::json& json) {
  return json.is_null() ? std::nullopt : std::optional(read_record<Value>(json));
}

}  // namespace

std::string details_column(const ProblemReport& report) {
  nlohmann::json audit = nlohmann::json::array();
  for (const RuleAudit& rule : report.audit) {
    audit.push_back(record_json(rule));
  }
  return record_text({{"device_uuid", report.device_uuid},
                      {"measuring", optional_json(report.measuring)},
                      {"conditions", optional_json(report.conditions)},
                      {"matmul", optional_json(report.matmul)},
                      {"audit", std::move(audit)}});
}

void read_details(const std::string& text, ProblemReport& report) {
  const nlohmann::json json = parse_record(text);
  try {
    report.device_uuid = json.at("device_uuid").get<std::string>();
    report.measuring = read_optional<MeasuringSummary>(json.at("measuring"));
    report.conditions = read_optional<GpuConditions>(json.at("conditions"));
    report.matmul = read_optional<MatmulRate>(json.value("matmul", nlohmann::json()));
    for (const nlohmann::json& rule : json.at("audit")) {
      report.audit.push_back(read_record<RuleAudit>(rule));
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::bad_file,
                fmt::format("details of a problem cannot be read: {}", error.what()));
  }
}

}  // namespace fatune
