#include <fmt/format.h>

#include "cli/subcommands.hpp"
#include "print/comparisons.hpp"
#include "print/files.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kCompareRows = 20;

struct CompareOptions {
  std::string old_input;  ///< a run of the store ("12", "last"), or a file
  std::string new_input;
  std::optional<std::filesystem::path> db_file;
  std::optional<double> tolerance_percent;  ///< absent: kTolerancePercent
  bool winners_only = false;
  std::int64_t rows = kCompareRows;  ///< configurations in output for people; 0: all
  std::optional<std::filesystem::path> junit_file;
  OutputOptions output;
};

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

/// Compares a run with an earlier one. Returns ExitCode::worse if something is slower beyond doubt
/// and tolerance, or fails. Returns ExitCode::undecided if the runs are not comparable.
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

constexpr std::int64_t kMostCompareRows = 1000000;

}  // namespace

void add_compare_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "compare", "Say what became faster, slower or wrong from one run to another", compare);
  const char* const input = "a run, by number or last; results.json or best_configs.json";
  sub.add_option("OLD", options.old_input, input)->required()->type_name("N|last|FILE");
  sub.add_option("NEW", options.new_input, "the same")->required()->type_name("N|last|FILE");
  add_tolerance_option(sub, options.tolerance_percent);
  add_text_option(sub, "--only", "winners", "configurations that won a problem in either run",
                  [&options = options](const std::string& text) {
                    if (text != "winners") {
                      throw Error(ExitCode::usage, fmt::format("'{}' is not a known choice", text),
                                  "--only", "the only choice is winners");
                    }
                    options.winners_only = true;
                  });
  add_integer(sub, "--rows",
              fmt::format("configurations in tables: those that changed the most (default: {}; 0: "
                          "all)",
                          kCompareRows),
              0, kMostCompareRows, options.rows);
  add_junit_option(sub, options.junit_file);
  add_db_option(sub, options.db_file);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Two separate runs differ by heat, power and clocks. What all configurations of a problem have in
common, the drift, is reported once and left out of verdicts: faster and slower mean beyond the
drift, the tolerance and doubt. docs/compare.md has the statistics.

Exit code 12: something is slower, or has failed. 13: the runs are the same, or of different GPU models,
or one is an estimate. 14: NEW lacks problems.

Examples:
  fatune compare 11 last
  fatune compare before/results.json after/results.json --format md
  fatune compare best_configs.json last --only winners --tolerance 3 \
    --junit compare.xml)");
}

}  // namespace fatune
