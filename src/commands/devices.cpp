#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "commands/devices_command.hpp"

namespace fatune {

void add_devices_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "devices", "Show the GPUs, their limits, and why one is unusable", devices);
  add_output_options(sub, options.output);
  sub.footer(R"(Examples:
  fatune devices
  fatune devices --format json)");
}

}  // namespace fatune
