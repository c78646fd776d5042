#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/run_command.hpp"

namespace fatune {

void add_run_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "run", "Verify and time configurations that you name", run);
  add_configs_option(sub, options.configs,
                     "configuration, in short form or as a profiler prints the kernel; repeatable")
      ->required();
  add_integer(sub, "--runs", "repeat the whole measurement N times (default: 1)", 1, 1000,
              options.runs)
      ->group(option_group::kMeasuring);
  add_measure_options(sub, options, SpaceOption::no, Strategy::exhaustive);
  add_counters_option(sub, options.counters);
  sub.footer(R"(Examples:
  fatune run --seq 4096 \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles"
  fatune run --seq 1000 --causal --runs 3 \
    --config "(BF16,64,128,64,4):async+load_2_2_2_tiles"
  fatune run --config "flash_forward_kernel<FlashForwardKernelConfig{5, 128, \
64, 64, 4, 1, 1, 1, 0, 2, 2, 0, 1}>")");
}

}  // namespace fatune
