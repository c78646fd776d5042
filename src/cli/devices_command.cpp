#include <memory>

#include "app/commands.hpp"
#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"

namespace fatune {

void add_devices_command(CLI::App& app, const CommandDefaults& defaults, Command& command) {
  auto options = std::make_shared<DevicesOptions>();
  options->output = defaults.output;
  CLI::App* sub =
      app.add_subcommand("devices", "Show the GPUs, their limits, and why one is unusable");
  add_output_options(*sub, options->output);
  sub->footer(R"(Examples:
  fatune devices
  fatune devices --format json)");
  sub->callback([options, &command] { command = [options] { return devices(*options); }; });
}

}  // namespace fatune
