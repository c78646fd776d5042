#include "app/commands.hpp"
#include "app/console/console.hpp"
#include "app/run/stored_reports.hpp"
#include "emit/run_report.hpp"

namespace fatune {

ExitCode show(const ShowOptions& options) {
  configure_logging(options.output.verbosity);
  const RunReport report = stored_report(options.db_file, options.run);
  print_report(print_run_report(report, print_options_of(options.output)), options.output);
  return ExitCode::ok;
}

}  // namespace fatune
