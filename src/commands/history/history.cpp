#include "cli/subcommands.hpp"
#include "commands/row_reports.hpp"
#include "model/flop.hpp"
#include "print/run_report.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

double tflops_of(const RunBest& best) {
  return literature_flop(best.problem) / best.time_us * kFlopPerUsToTflops;
}

struct HistoryOptions {
  std::optional<std::filesystem::path> db_file;
  OutputOptions output;
};

ExitCode history(const HistoryOptions& options) {
  const std::vector<RunSummary> runs = stored_runs(options.db_file);
  print_document(history_document(runs), options.output);
  return ExitCode::ok;
}

struct ShowOptions {
  std::optional<std::filesystem::path> db_file;
  std::string input;  ///< a stored run, or a file that a run has written: see load_runs()
  bool plot = false;  ///< print the main figures too
  OutputOptions output;
};

ExitCode show(const ShowOptions& options) {
  const InputRuns input = load_runs(options.input, options.db_file);
  if (input.has_winners_only) {
    print_note(options.output, input.name + ": the file has only the first few of each ranking");
  }
  const std::size_t top = rows_shown(options.output);
  Document document = input.runs.size() == 1 ? run_document(input.runs.front(), top,
                                                            known_peers(input.runs.front().device))
                                             : runs_document(input.runs, top);
  if (options.plot) {
    document.for_people = [&runs = input.runs, table = document.for_people] {
      Blocks blocks = table();
      for (const RunReport& run : runs) {
        append(blocks, main_plots(run));
      }
      return blocks;
    };
  }
  print_document(document, options.output);
  return ExitCode::ok;
}

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
      {"best_tflops", "TFLOP/s", decimals(1), [](auto& r) { return if_any(r.best, tflops_of); }},
      {"best_problem", "of problem", kProgramsOnly,
       [](auto& r) { return if_any(r.best, [](auto& b) { return describe(b.problem); }); }},
      {"best_config", "best config", kWraps,
       [](auto& r) { return if_any(r.best, &RunBest::short_form); }},
      {"command_line", "command", kWraps, &RunSummary::command_line},
  };
}

Document history_document(const std::vector<RunSummary>& runs) {
  return rows_document("history", "runs", history_fields(), runs,
                       {.if_empty = "no run is stored\n"});
}

void add_history_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(all, "history", "List the stored runs", history);
  add_db_option(sub, options.db_file);
  add_output_options(sub, options.output);
  add_view_options(sub, options.output.view);
  sub.footer(R"(Examples:
  fatune history
  fatune history --columns run,started_at,best_tflops --sort best_tflops:desc
  fatune history --db lab.db --format json)");
}

void add_show_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(all, "show", "Print a run again, in any format", show);
  sub.add_option("RUN", options.input,
                 "number from 'fatune history', last, or a results.json or best_configs.json")
      ->type_name("N|last|FILE")
      ->required();
  add_db_option(sub, options.db_file);
  sub.add_flag("--plot", options.plot, "also draw the main figures, in tables and Markdown");
  add_output_options(sub, options.output);
  add_view_options(sub, options.output.view);
  add_top_option(sub, options.output);
  sub.footer(R"(Examples:
  fatune show last
  fatune show 12 --top 0
  fatune show last --plot
  fatune show results/results.json
  fatune show last --filter "registers_per_thread <= 128 && B_r == 128"
  fatune show 12 --format csv)");
}

}  // namespace fatune
