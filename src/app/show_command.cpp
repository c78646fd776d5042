#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/stored_reports.hpp"
#include "emit/run_report.hpp"

namespace fatune {

ExitCode show(const ShowOptions& options) {
  configure_logging(options.output.verbosity);
  const RunReport report = stored_report(options.db_file, options.run);
  print_result(print_run_report(report, {options.output.format, options.output.colour,
                                         static_cast<std::size_t>(options.output.top)}));
  return ExitCode::ok;
}

}  // namespace fatune
