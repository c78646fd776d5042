#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "commands/cases/cases_command.hpp"

namespace fatune {

void add_cases_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "cases", "Tune variants of a kernel separately, and compare them", cases);
  sub.add_option("CASES", options.cases, "hopper, or a file such as configs/cases/hopper.json")
      ->type_name("CASES|FILE")
      ->required();
  add_problem_options(sub, options.problems, "those of the cases");
  add_kernel_options(sub, options.kernels, SpaceOption::of_file);
  add_target_options(sub, options.target);
  add_compile_settings(sub, options.compile);
  add_emulate_option(sub, options.emulate);
  add_policy_options(sub, options, Strategy::race);
  add_store_options(sub, options.store);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Each variant is tuned over its part of the space, and the best ones are then timed side by side. What
problem options, --family and --space do not set comes from the cases.

Examples:
  fatune cases hopper
  fatune cases hopper --seq 256,1024,16384 --heads 16 --dhead 64 --format md
  fatune cases ./my_cases.json --format json)");
}

}  // namespace fatune
