#include "commands/history/history_report.hpp"

#include "model/flop.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

const auto best_tflops = [](const RunSummary& run) {
  return run.best ? std::optional(literature_flop(run.best->problem) / run.best->time_us *
                                  kFlopPerUsToTflops)
                  : std::nullopt;
};

}  // namespace

Fields<RunSummary> history_fields() {
  return {
      {"run", "run", &RunSummary::id},
      {"started_at", "started", &RunSummary::started_at},
      {"complete", "complete", &RunSummary::complete},
      {"shard", "shard", kProgramsOnly, or_none<&RunSummary::shard>},
      {"measured", "measured", &RunSummary::measured},
      {"device", "device", &RunSummary::device},
      {"problems", "problems", &RunSummary::problems},
      {"outcomes", "outcomes", &RunSummary::outcomes},
      {"reused", "reused", &RunSummary::reused},
      {"best_tflops", "TFLOP/s", Look{.decimals = 1}, best_tflops},
      {"best_problem", "of problem", kProgramsOnly,
       [](const RunSummary& r) {
         return r.best ? std::optional(describe(r.best->problem)) : std::nullopt;
       }},
      {"best_config", "best config", kWraps,
       [](const RunSummary& r) {
         return r.best ? std::optional(r.best->short_form) : std::nullopt;
       }},
      {"command_line", "command", kWraps, &RunSummary::command_line},
  };
}

Document history_document(const std::vector<RunSummary>& runs) {
  return rows_document("history", "runs", history_fields(), runs,
                       {.if_empty = "no run is stored\n"});
}

}  // namespace fatune
