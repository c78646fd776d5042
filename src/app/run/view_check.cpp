#include "app/run/view_check.hpp"

#include "counters/counter_fields.hpp"
#include "emit/document/table_view.hpp"
#include "emit/run_report.hpp"
#include "engine/candidate_maker.hpp"

namespace fatune {
namespace {

/// A record of the family with all columns that its records may have.
Result full_result(const Family& family, const Config& config, bool counts) {
  Result result = make_result(family, config);
  Measured measured;
  if (counts) {
    for (const CounterField& field : counter_fields(CounterSet::core)) {
      measured.counters.push_back({field.name, 0.0});
    }
  }
  result.outcome = std::move(measured);
  return result;
}

/// The first configuration of each family.
std::vector<Result> one_of_each(const PlannedRun& run) {
  std::vector<Result> results;
  for (const Family& family : run.kernels.families.all()) {
    for (const ProblemPlan& plan : run.problems) {
      const auto config = std::ranges::find(plan.configs, family.name, &Config::family);
      if (config != plan.configs.end()) {
        results.push_back(full_result(family, *config, run.counters > 0));
        break;
      }
    }
  }
  return results;
}

}  // namespace

void check_view(const TableView& view, const PlannedRun& run) {
  if (!view.is_set()) {
    return;
  }
  RunReport report;
  report.problems.emplace_back().ranking = one_of_each(run);
  static_cast<void>(viewed(run_document(report).records(), view));
}

}  // namespace fatune
