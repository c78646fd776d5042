#include <limits>
#include <string>

#include <fmt/format.h>

#include "app/choice/ragged_length.hpp"
#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/check/check_command.hpp"
#include "core/is_among.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostSeeds = 10000;

void add_tools(const std::vector<std::string>& texts, CheckOptions& options) {
  std::vector<SanitizerTool>& tools = options.sanitizers;
  for (const std::string& text : texts) {
    for (const SanitizerTool tool : parse_sanitizer_tools(text)) {
      if (!is_among(tool, tools)) {
        tools.push_back(tool);
      }
    }
  }
}

void add_checking_options(CLI::App& app, CheckOptions& options) {
  const OptionScope scope(app, option_group::kMeasuring);
  app.add_option_function<std::vector<std::string>>(
         "--sanitizer",
         [&options](const std::vector<std::string>& texts) { add_tools(texts, options); },
         "run under NVIDIA's compute-sanitizer too: memcheck, racecheck, synccheck, initcheck, "
         "several, or all; repeatable; without --seq, on the small problem")
      ->type_name("TOOL,...")
      ->allow_extra_args(false);
  add_integer(app, "--seeds", "check with N seeds, starting at --seed (default: 1)", 1, kMostSeeds,
              options.seeds);
  add_integer(app, "--seed", "first seed of the random inputs (default: 1)", 0,
              std::numeric_limits<std::int64_t>::max() - kMostSeeds, options.policy.seed);
}

}  // namespace

void add_check_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "check", "Check that configurations compute the right thing", check);
  options.kernels.kernels_variable = all.kernels_variable;
  add_configs_option(sub, options.configs, "configuration, in place of a space; repeatable");
  sub.add_flag("--small", options.small,
               "batch 1, seq 512, one head, in place of batch 16, seq 2048, 16 heads")
      ->group(option_group::kProblem);
  sub.add_flag("--diff", options.count_rows, "say which rows are wrong: by position, head and tile")
      ->group(option_group::kOutput);
  add_checking_options(sub, options);
  add_problem_options(
      sub, options.problems,
      fmt::format("2048, or 512 with --small or --sanitizer; and {}, full and causal",
                  kRaggedSeqLen));
  add_kernel_options(sub, options.kernels, SpaceOption::yes);
  add_target_options(sub, options.target);
  add_emulate_option(sub, options.emulate);
  add_compile_settings(sub, options.compile);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Exit code 6: something is wrong. Tables show the worst input of each; JSON and CSV show all.
Without a GPU, configurations are emulated on the CPU on small problems, under a race checker.

Examples:
  fatune check --small
  fatune check --space all --seeds 5 --format csv
  fatune check --seq 1000 --causal --diff \
    --config "(FP16,128,64,64,4):async+load_2_2_2_tiles"
  fatune check --sanitizer racecheck,memcheck --space prog
  FATUNE_COMPUTE_SANITIZER=/opt/compute-sanitizer fatune check --sanitizer all)");
}

}  // namespace fatune
