#include "commands/show_command.hpp"

#include "app/console/console.hpp"
#include "app/run/known_peers.hpp"
#include "app/study/study_inputs.hpp"
#include "emit/plots/study_document.hpp"
#include "emit/run_report.hpp"

namespace fatune {
namespace {

Document document_of(const std::vector<RunReport>& runs, std::size_t top) {
  return runs.size() == 1 ? run_document(runs.front(), top, known_peers(runs.front().device))
                          : runs_document(runs, top);
}

}  // namespace

ExitCode show(const ShowOptions& options) {
  const InputRuns input = load_runs(options.input, options.db_file);
  if (input.has_winners_only) {
    print_note(options.output, input.name + ": the file has only the first few of each ranking");
  }
  Document document = document_of(input.runs, rows_shown(options.output));
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

}  // namespace fatune
