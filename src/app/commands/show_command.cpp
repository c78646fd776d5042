#include "app/commands/show_command.hpp"

#include "app/console/console.hpp"
#include "app/run/stored_reports.hpp"
#include "emit/plots/study_document.hpp"
#include "emit/run_report.hpp"

namespace fatune {

ExitCode show(const ShowOptions& options) {
  const RunReport report = stored_report(options.db_file, options.run);
  Document document = run_document(report, static_cast<std::size_t>(options.output.top));
  if (options.plot) {
    document.for_people = [&report, table = document.for_people] {
      Blocks blocks = table();
      append(blocks, main_plots(report));
      return blocks;
    };
  }
  print_document(document, options.output);
  return ExitCode::ok;
}

}  // namespace fatune
