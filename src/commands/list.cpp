#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/subcommands.hpp"
#include "commands/list_command.hpp"

namespace fatune {

void add_list_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "list", "Show what a search space keeps, and what its rules drop", list);
  options.kernels.kernels_variable = all.kernels_variable;
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_problem_options(sub, options.problems, "none: see below");
  add_arch_option(sub, options.arch);
  sub.add_flag("--presets", options.presets,
               "list the published models that --preset knows, and their sources")
      ->group(option_group::kOutput);
  sub.add_flag("--pruned", options.with_dropped, "list the dropped configurations too, and why")
      ->group(option_group::kOutput);
  add_output_options(sub, options.output);
  add_view_options(sub, options.output.view);
  sub.footer(
      R"(Rules that need a problem or a device are applied with --seq only: to problems of that length, on the
device that --arch stands for (default: sm_90a). 'fatune sweep' applies them to each of its problems.
Examples:
  fatune list
  fatune list --space tune --pruned
  fatune list --family flash_sm90 --seq 512 --dhead 128 --pruned
  fatune list --space 64,32 --format json
  fatune list --pruned --filter "status == 'pruned'" --columns rule,config
  fatune list --presets
  fatune list --kernel-dir my_kernels --family my_attention)");
}

}  // namespace fatune
