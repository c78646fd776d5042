#include "app/commands/worker_command.hpp"
#include "cli/subcommands.hpp"

namespace fatune {

void add_worker_command(CLI::App& app, const CommandDefaults&, Command& command) {
  CLI::App* sub = app.add_subcommand("worker", "Measure for the fatune that has started this");
  sub->group("");  // left out of the help
  sub->callback([&command] { command = work_for_parent; });
}

}  // namespace fatune
