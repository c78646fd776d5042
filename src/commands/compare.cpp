#include "commands/compare_command.hpp"

#include <fmt/format.h>

#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostCompareRows = 1000000;

void check_only(const std::string& text) {
  if (text != "winners") {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a known choice", text), "--only",
                "the only choice is winners");
  }
}

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
                    check_only(text);
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
