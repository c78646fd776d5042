#include "emit/history_report.hpp"

#include "attention/flop.hpp"
#include "emit/print_rows.hpp"

namespace fatune {
namespace {

FieldValue best_tflops(const RunSummary& run) {
  constexpr double kFlopPerUsToTflops = 1e-6;
  return run.best ? FieldValue{literature_flop(run.best->problem) / run.best->time_us *
                               kFlopPerUsToTflops}
                  : FieldValue{};
}

}  // namespace

const std::vector<Field<RunSummary>>& history_fields() {
  static const std::vector<Field<RunSummary>> fields{
      {"run", "run", "what 'fatune show' takes", 0, Shown::everywhere,
       [](const RunSummary& r) { return FieldValue{r.id}; }},
      {"started_at", "started", "ISO 8601, UTC", 0, Shown::everywhere,
       [](const RunSummary& r) { return FieldValue{r.started_at}; }},
      {"complete", "complete", "false: the run was stopped, or is still going on", 0,
       Shown::everywhere, [](const RunSummary& r) { return FieldValue{r.complete}; },
       ColumnFit{.leaves = 5}},
      {"device", "device", "GPU", 0, Shown::everywhere,
       [](const RunSummary& r) { return FieldValue{r.device}; },
       ColumnFit{.leaves = 4, .once = true}},
      {"problems", "problems", "problems begun, each repetition counted", 0, Shown::everywhere,
       [](const RunSummary& r) { return FieldValue{r.problems}; }, ColumnFit{.leaves = 3}},
      {"outcomes", "outcomes", "configurations that have ended, over all problems", 0,
       Shown::everywhere, [](const RunSummary& r) { return FieldValue{r.outcomes}; },
       ColumnFit{.leaves = 2}},
      {"reused", "reused", "of these, taken from earlier runs", 0, Shown::everywhere,
       [](const RunSummary& r) { return FieldValue{r.reused}; }, ColumnFit{.leaves = 1}},
      {"best_tflops", "TFLOP/s",
       "most literature TFLOP/s of any of its problems; null: nothing was measured", 1,
       Shown::everywhere, best_tflops, ColumnFit{.leaves = 6}},
      {"best_problem", "of problem", "the problem of best_tflops", 0, Shown::for_programs,
       [](const RunSummary& r) {
         return r.best ? FieldValue{describe(r.best->problem)} : FieldValue{};
       }},
      {"best_config", "best config", "the configuration of best_tflops", 0, Shown::everywhere,
       [](const RunSummary& r) { return r.best ? FieldValue{r.best->short_form} : FieldValue{}; },
       ColumnFit{.leaves = 7, .least = 24, .config = true}},
      {"command_line", "command", "as typed", 0, Shown::everywhere,
       [](const RunSummary& r) { return FieldValue{r.command_line}; }, kWraps},
  };
  return fields;
}

std::string print_history(const std::vector<RunSummary>& runs, const Page& page) {
  if (page.format == OutputFormat::json) {
    Json json = {{"format", "fatune.history"}, {"format_version", 1}};
    json["runs"] = json_rows(history_fields(), runs);
    return json_text(json);
  }
  if (runs.empty() && page.format != OutputFormat::csv) {
    return "no run is stored\n";
  }
  return print_rows(history_fields(), runs, page);
}

}  // namespace fatune
