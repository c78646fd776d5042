#include "app/study/study_inputs.hpp"
#include "cli/subcommands.hpp"
#include "emit/list_reports.hpp"

namespace fatune {
namespace {

struct HistoryOptions {
  std::optional<std::filesystem::path> db_file;
  OutputOptions output;
};

/// Lists the stored runs.
ExitCode history(const HistoryOptions& options) {
  const std::vector<RunSummary> runs = stored_runs(options.db_file);
  print_document(history_document(runs), options.output);
  return ExitCode::ok;
}

}  // namespace

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

}  // namespace fatune
