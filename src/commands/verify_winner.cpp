#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "commands/verify_winner_command.hpp"

namespace fatune {

void add_verify_winner_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "verify-winner",
      "Measure the winners of a best_configs.json again: are they still the fastest?",
      verify_winner);
  add_text_option(
      sub, "RUN", "N|last|FILE|GPU",
      "best_configs.json or results.json, a stored run by number or last, or a GPU that "
      "fatune ships winners of (default: this GPU model)",
      [&options = options](const std::string& text) {
        options.input = read_path(text, "RUN").string();
      });
  add_tolerance_option(sub, options.tolerance_percent);
  add_kernel_options(sub, options.kernels, SpaceOption::of_file, FamilyOption::several);
  add_target_options(sub, options.target);
  add_compile_settings(sub, options.compile);
  add_policy_options(sub, options, Strategy::race);
  add_store_options(sub, options.store);
  add_file_options(sub, options);
  add_junit_option(sub, options.junit_file);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Sweeps the problems of an earlier run, then races each of its winners that did not win again
against the one that did. Verdicts are on the earlier winners: slower, faster, equal, failed or
undecided (docs/verdicts.md). Their earlier times are shown too; no verdict rests on them.

Exit code 11: a winner is slower, or has failed. 13: none is, but one is undecided.

Examples:
  fatune verify-winner
  fatune verify-winner results/best_configs.json
  fatune verify-winner nvidia-h200    (the winners shipped for another GPU)
  fatune verify-winner best.json --tolerance 2 --budget 60 --format json)");
}

}  // namespace fatune
