#include "commands/compare_command.hpp"

#include "app/console/console.hpp"
#include "app/console/streams.hpp"
#include "app/study/study_inputs.hpp"
#include "core/error.hpp"
#include "emit/compare_report.hpp"
#include "emit/output_file.hpp"

namespace fatune {
namespace {

ComparedRun compared_run(InputRuns input, const std::string& device) {
  ComparedRun run{input.name, input.has_winners_only, run_of(std::move(input), device)};
  run.is_part = run.is_part || !run.report.complete;
  return run;
}

std::string device_of(const InputRuns& input) {
  return input.runs.size() == 1 ? input.runs.front().device.name : std::string();
}

CompareReport load_pair(const CompareOptions& options) {
  InputRuns before = load_runs(options.old_input, options.db_file);
  InputRuns after = load_runs(options.new_input, options.db_file);
  const std::string old_device = device_of(before);
  const std::string new_device = device_of(after);
  CompareReport report;
  report.old_run = compared_run(std::move(before), new_device);
  report.new_run = compared_run(std::move(after), old_device);
  return report;
}

ExitCode exit_code_of(const RunComparison& comparison) {
  return comparison.refusal != Doubt::none ? ExitCode::undecided
         : is_worse(comparison.checks)     ? ExitCode::worse
         : comparison.missing.empty()      ? ExitCode::ok
                                           : ExitCode::incomplete;
}

}  // namespace

ExitCode compare(const CompareOptions& options) {
  if (options.junit_file) {
    check_output_file(*options.junit_file);
  }
  CompareReport report = load_pair(options);
  report.most_rows = static_cast<std::size_t>(options.rows);
  report.comparison =
      compare_runs(report.old_run, report.new_run,
                   {.tolerance_percent = options.tolerance_percent.value_or(kTolerancePercent),
                    .winners_only = options.winners_only});
  if (report.comparison.problems.empty()) {
    throw Error(ExitCode::usage, "the runs have no problem in common",
                report.old_run.name + ", " + report.new_run.name,
                "compare runs with the same lengths, heads and types");
  }
  if (options.junit_file) {
    write_output_file(*options.junit_file, compare_junit(report));
  }
  print_document(compare_document(report), options.output);
  return exit_code_of(report.comparison);
}

}  // namespace fatune
