#include "app/commands/worker_command.hpp"
#include "cli/subcommands.hpp"

namespace fatune {

void add_worker_command(const Subcommands& all) {
  CLI::App* sub =
      all.parent.add_subcommand("worker", "Measure for the fatune that started this process");
  sub->group("");  // left out of the help
  sub->callback([&chosen = all.chosen] { chosen = work_for_parent; });
}

}  // namespace fatune
