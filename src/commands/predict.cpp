#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/subcommands.hpp"
#include "cli/text_option.hpp"
#include "commands/predict_command.hpp"

namespace fatune {

void add_predict_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "predict", "Say which configuration would be chosen for a problem, tuned or not",
      predict_choices);
  add_tuned_options(sub, options.tuned);
  add_problem_options(sub, options.problems, kCompiledSeqLen);
  add_arch_option(sub, options.arch);
  add_text_option(sub, "--gpu", "NAME",
                  "GPU that problems were tuned on, by its name or a part of it, e.g. h200 "
                  "(default: that of this machine, else the first)",
                  [&options = options](const std::string& text) { options.gpu = text; })
      ->excludes("--arch")
      ->group(option_group::kDevice);
  add_kernel_options(sub, options.kernels, SpaceOption::no, FamilyOption::several);
  add_output_options(sub, options.output);
  sub.footer(
      R"(The expected regret is that of tuned problems that were left out in turn, and whose configuration
was chosen in the same way. A problem outside the range that was tuned has none: the output says
what is unlike, and how to measure it (docs/export.md). Exit code 5: nothing is eligible for any of
the problems.

Examples:
  fatune predict --seq 3072 --dhead 128 --dtype bf16 --causal
  fatune predict --seq 768,6144 --dhead 64,128 --best results/best_configs.json
  fatune predict --gpu h200 --seq 4096 --dhead 64
  fatune predict --preset llama-3.1-8b --seq 4096 --batch 1 --format json)");
}

}  // namespace fatune
