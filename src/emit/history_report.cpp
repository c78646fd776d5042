#include "emit/history_report.hpp"

#include "attention/flop.hpp"

namespace fatune {
namespace {

const auto best_tflops = [](const RunSummary& run) {
  return run.best ? std::optional(literature_flop(run.best->problem) / run.best->time_us *
                                  kFlopPerUsToTflops)
                  : std::nullopt;
};

}  // namespace

const Fields<RunSummary>& history_fields() {
  static const Fields<RunSummary> fields{
      {"run", "run", &RunSummary::id},
      {"started_at", "started", &RunSummary::started_at},
      {"complete", "complete", Look{.leaves = 5}, &RunSummary::complete},
      {"shard", "shard", kProgramsOnly, or_none<&RunSummary::shard>},
      {"measured", "measured", Look{.once = true}, &RunSummary::measured},
      {"device", "device", Look{.leaves = 4, .once = true}, &RunSummary::device},
      {"problems", "problems", Look{.leaves = 3}, &RunSummary::problems},
      {"outcomes", "outcomes", Look{.leaves = 2}, &RunSummary::outcomes},
      {"reused", "reused", Look{.leaves = 1}, &RunSummary::reused},
      {"best_tflops", "TFLOP/s", Look{.decimals = 1, .leaves = 6}, best_tflops},
      {"best_problem", "of problem", kProgramsOnly,
       [](const RunSummary& r) {
         return r.best ? std::optional(describe(r.best->problem)) : std::nullopt;
       }},
      {"best_config", "best config", Look{.leaves = 7, .least = 24, .config = true},
       [](const RunSummary& r) {
         return r.best ? std::optional(r.best->short_form) : std::nullopt;
       }},
      {"command_line", "command", kWraps, &RunSummary::command_line},
  };
  return fields;
}

Document history_document(const std::vector<RunSummary>& runs) {
  const auto records = [&] { return table_of(history_fields(), runs); };
  const auto for_people = [&runs, records] {
    return runs.empty() ? Blocks{block::Text{"no run is stored\n"}}
                        : Blocks{block::Rows{records()}};
  };
  const auto object = [&] {
    Json json = json_head("history");
    json["runs"] = json_rows(history_fields(), runs);
    return json;
  };
  return {for_people, records, object};
}

}  // namespace fatune
