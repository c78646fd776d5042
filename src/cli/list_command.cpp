#include <memory>

#include "app/commands.hpp"
#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"

namespace fatune {

void add_list_command(CLI::App& app, const CommandDefaults& defaults, Command& command) {
  auto options = std::make_shared<ListOptions>();
  options->output = defaults.output;
  options->kernels.kernels_variable = defaults.kernels_variable;
  CLI::App* sub =
      app.add_subcommand("list", "Show what a search space keeps, and what its rules drop");
  add_kernel_options(*sub, options->kernels, SpaceOption::yes);
  add_preset_option(*sub, options->problems);
  add_binding_options(*sub, options->problems);
  sub->add_flag("--presets", options->presets,
                "list the published models that --preset knows, and their sources");
  sub->add_flag("--pruned", options->with_dropped, "list the dropped configurations too, and why");
  add_output_options(*sub, options->output);
  sub->footer(R"(Examples:
  fatune list
  fatune list --space tune --pruned
  fatune list --space 64,32 --format json
  fatune list --presets
  fatune list --kernel-dir my_kernels --family my_attention)");
  sub->callback([options, &command] {
    command = [options] { return options->presets ? list_presets(*options) : list(*options); };
  });
}

}  // namespace fatune
