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
      {"run", "run", "number of the run, as 'fatune show' takes it", 0, kEverywhere,
       member<&RunSummary::id>},
      {"started_at", "started", "start of the run: ISO 8601, UTC", 0, kEverywhere,
       member<&RunSummary::started_at>},
      {"complete", "complete", "false: the run was stopped or is still in progress", 0, kEverywhere,
       member<&RunSummary::complete>, ColumnFit{.leaves = 5}},
      {"shard", "shard",
       "shards of the sweep that the run consists of, e.g. 1,2/8; null: the whole sweep", 0,
       kForPrograms, [](const RunSummary& run) { return text_or_none(run.shard); }},
      {"measured", "measured", "false: nothing was timed, and all times are estimates", 0,
       kEverywhere, member<&RunSummary::measured>, ColumnFit{.once = true}},
      {"device", "device", "name of the GPU", 0, kEverywhere, member<&RunSummary::device>,
       ColumnFit{.leaves = 4, .once = true}},
      {"problems", "problems", "number of problems begun, counting each repetition", 0, kEverywhere,
       member<&RunSummary::problems>, ColumnFit{.leaves = 3}},
      {"outcomes", "outcomes", "number of configurations that have ended, over all problems", 0,
       kEverywhere, member<&RunSummary::outcomes>, ColumnFit{.leaves = 2}},
      {"reused", "reused", "number of the outcomes that were taken from earlier runs", 0,
       kEverywhere, member<&RunSummary::reused>, ColumnFit{.leaves = 1}},
      {"best_tflops", "TFLOP/s",
       "highest rate on any problem of the run, in 10^12 FLOP per second by the literature's "
       "convention; null: nothing was measured",
       1, kEverywhere, best_tflops, ColumnFit{.leaves = 6}},
      {"best_problem", "of problem", "the problem of best_tflops; null: nothing was measured", 0,
       kForPrograms,
       [](const RunSummary& r) {
         return r.best ? std::optional(describe(r.best->problem)) : std::nullopt;
       }},
      {"best_config", "best config",
       "short form of the configuration of best_tflops; null: nothing was measured", 0, kEverywhere,
       [](const RunSummary& r) {
         return r.best ? std::optional(r.best->short_form) : std::nullopt;
       },
       ColumnFit{.leaves = 7, .least = 24, .config = true}},
      {"command_line", "command",
       "the command line as typed, with the options that fatune.toml adds", 0, kEverywhere,
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
