#include "app/commands/history_command.hpp"

#include "app/console/console.hpp"
#include "app/run/stored_reports.hpp"
#include "emit/list_reports.hpp"

namespace fatune {

ExitCode history(const HistoryOptions& options) {
  const std::vector<RunSummary> runs = stored_runs(options.db_file);
  print_document(history_document(runs), options.output);
  return ExitCode::ok;
}

}  // namespace fatune
