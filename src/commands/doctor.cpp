#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "commands/doctor_command.hpp"

namespace fatune {

void add_doctor_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "doctor", "Check driver, NVRTC, kernels, cache and permissions", doctor);
  add_cache_options(sub, options.compile);
  add_output_options(sub, options.output);
  sub.footer(R"(Exit code 0 unless something that every command needs is broken.
Examples:
  fatune doctor
  fatune doctor --format json)");
}

}  // namespace fatune
