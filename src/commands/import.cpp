#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "commands/import_command.hpp"

namespace fatune {

void add_import_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "import", "Store results in auto-tuners' common formats as runs", import_results);
  add_paths(sub, "FILE", "FILE", "T4 results, or cache files of Kernel Tuner", options.files)
      ->required();
  add_text_option(
      sub, "--from", import_format_words(), "default: recognised from each file's members",
      [&options = options](const std::string& text) { options.from = parse_import_format(text); })
      ->group(option_group::kProblem);
  add_db_option(sub, options.db_file);
  add_problem_options(sub, options.problems, "none; one must be named");
  add_arch_option(sub, options.arch);
  add_text_option(sub, "--gpu", "NAME", "product name of the GPU (default: as the file says)",
                  [&options = options](const std::string& text) { options.gpu = text; })
      ->group(option_group::kDevice);
  add_kernel_options(sub, options.kernels, SpaceOption::no, FamilyOption::several);
  add_output_options(sub, options.output);
  sub.footer(
      R"(Files that 'fatune export --to t4' or '--to kernel-tuner-cache' wrote are restored whole; those of one run,
named together, become one run. Files of other programs say neither which problem they are for nor
the GPU's architecture: name both. Their settings must be configurations of a kernel family
(docs/export.md).

Examples:
  fatune import last.*.json
  fatune import cache.json --seq 4096 --dhead 128 --dtype fp16 --arch sm_90
  fatune import results.json --seq 4096 --dhead 128 --arch sm_80 \
    --gpu 'NVIDIA A100-SXM4-80GB')");
}

}  // namespace fatune
