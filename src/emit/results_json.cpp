#include "emit/results_json.hpp"

#include <set>

#include "emit/result_fields.hpp"
#include "emit/run_report.hpp"
#include "emit/verdict_report.hpp"
#include "emit/winners_table.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

/// Adds the derived fields to each of the results. `list`: their JSON.
void add_derived(const RunReport& run, const ProblemReport& problem,
                 const std::vector<Result>& results, Json& list) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Field<ResultRow>& field : derived_result_fields()) {
      list[i].emplace(std::string(field.name),
                      json_value(field.get({&run, &problem, &results[i]})));
    }
  }
}

void add_derived(const RunReport& run, Json& problems) {
  for (std::size_t i = 0; i < run.problems.size(); ++i) {
    const ProblemReport& problem = run.problems[i];
    add_derived(run, problem, problem.ranking, problems[i]["ranking"]);
    add_derived(run, problem, problem.failures, problems[i]["failures"]);
    add_derived(run, problem, problem.audited, problems[i]["audited"]);
  }
}

}  // namespace

const Fields<ResultRow>& derived_result_fields() {
  static const Fields<ResultRow> derived = [] {
    std::set<std::string_view> members;
    for (const RecordMember& member : record_members<Result>()) {
      if (!member.of_alternative) {
        members.insert(member.info.name);
      }
    }
    Fields<ResultRow> fields = result_fields();
    std::erase_if(fields, [&](const auto& field) { return members.contains(field.name); });
    return fields;
  }();
  return derived;
}

Json results_object(const RunReport& report) {
  Json json = json_head("results", kResultsVersion);
  json.update(record_json(report));
  add_derived(report, json["problems"]);
  json["gpu_busy_percent"] = report.measured ? json_value(busy_percent(report)) : Json(nullptr);
  json["summary"] = json_summary(report);
  if (report.gate) {
    json["gate"].update(verdict_summary_json(report.gate->checks));
  }
  return json;
}

std::string best_configs_json(const RunReport& report) {
  return json_text(results_object(only_winners(report)));
}

Json runs_object(const std::vector<RunReport>& reports) {
  Json json = json_head("runs", kResultsVersion);
  json["runs"] = json_list(reports, results_object);
  return json;
}

}  // namespace fatune
