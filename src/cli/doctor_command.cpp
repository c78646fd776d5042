#include <memory>

#include "app/commands.hpp"
#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"

namespace fatune {

void add_doctor_command(CLI::App& app, const CommandDefaults& defaults, Command& command) {
  auto options = std::make_shared<DoctorOptions>();
  options->output = defaults.output;
  CLI::App* sub =
      app.add_subcommand("doctor", "Check driver, NVRTC, kernels, cache and permissions");
  add_cache_options(*sub, options->compile);
  add_output_options(*sub, options->output);
  sub->footer(R"(Exit code 0 unless something that every command needs is broken.
Examples:
  fatune doctor
  fatune doctor --format json)");
  sub->callback([options, &command] { command = [options] { return doctor(*options); }; });
}

}  // namespace fatune
