#include "cli/option_groups.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "commands/new_family_command.hpp"

namespace fatune {

void add_new_family_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "new-family", "Write a small kernel of your own to start from", new_family);
  add_path_option(sub, "DIR", "DIR", "folder to write; its name becomes the kernel's",
                  options.folder)
      ->required();
  add_verbosity_options(sub, options.output);
  sub.footer(
      R"(Writes DIR/family.json, the kernel and its space of configurations. The kernel
is right on every length, full and causal, and short enough to replace step by
step (docs/bring-your-own-kernel.md).

Examples:
  fatune new-family my_attention
  fatune check --kernel-dir my_attention --small
  fatune sweep --kernel-dir my_attention --seq 1024)");
}

}  // namespace fatune
