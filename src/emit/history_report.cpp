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

const std::vector<Field<RunSummary>>& history_fields() {
  static const std::vector<Field<RunSummary>> fields{
      {"run", "run", "what 'fatune show' takes", 0, kEverywhere, member<&RunSummary::id>},
      {"started_at", "started", "ISO 8601, UTC", 0, kEverywhere, member<&RunSummary::started_at>},
      {"complete", "complete", "false: the run was stopped, or is still going on", 0, kEverywhere,
       member<&RunSummary::complete>, ColumnFit{.leaves = 5}},
      {"shard", "shard", "part of a sweep that it is, as 1,2/8; null: it is the whole", 0,
       kForPrograms, [](const RunSummary& run) { return text_or_none(run.shard); }},
      {"measured", "measured", "false: nothing was timed, it is an estimate", 0, kForPrograms,
       member<&RunSummary::measured>},
      {"device", "device", "GPU", 0, kEverywhere, member<&RunSummary::device>,
       ColumnFit{.leaves = 4, .once = true}},
      {"problems", "problems", "problems begun, each repetition counted", 0, kEverywhere,
       member<&RunSummary::problems>, ColumnFit{.leaves = 3}},
      {"outcomes", "outcomes", "configurations that have ended, over all problems", 0, kEverywhere,
       member<&RunSummary::outcomes>, ColumnFit{.leaves = 2}},
      {"reused", "reused", "of these, taken from earlier runs", 0, kEverywhere,
       member<&RunSummary::reused>, ColumnFit{.leaves = 1}},
      {"best_tflops", "TFLOP/s",
       "most literature TFLOP/s of any of its problems; null: nothing was measured", 1, kEverywhere,
       best_tflops, ColumnFit{.leaves = 6}},
      {"best_problem", "of problem", "the problem of best_tflops", 0, kForPrograms,
       [](const RunSummary& r) {
         return r.best ? std::optional(describe(r.best->problem)) : std::nullopt;
       }},
      {"best_config", "best config", "the configuration of best_tflops", 0, kEverywhere,
       [](const RunSummary& r) {
         return r.best ? std::optional(r.best->short_form) : std::nullopt;
       },
       ColumnFit{.leaves = 7, .least = 24, .config = true}},
      {"command_line", "command", "as typed, with what fatune.toml adds", 0, kEverywhere,
       member<&RunSummary::command_line>, kWraps},
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
