#include "app/commands/show_command.hpp"

#include "app/console/console.hpp"
#include "app/run/stored_reports.hpp"
#include "emit/run_report.hpp"

namespace fatune {

ExitCode show(const ShowOptions& options) {
  const RunReport report = stored_report(options.db_file, options.run);
  print_document(run_document(report, static_cast<std::size_t>(options.output.top)),
                 options.output);
  return ExitCode::ok;
}

}  // namespace fatune
