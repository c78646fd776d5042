#include "cli/subcommands.hpp"
#include "commands/worker_command.hpp"

namespace fatune {

void add_worker_command(const Subcommands& all) {
  const auto add = [&](const char* role, const char* what, ExitCode (*work)()) {
    CLI::App* sub = all.parent.add_subcommand(role, what);
    sub->group("");  // left out of the help
    sub->callback([&chosen = all.chosen, work] { chosen = work; });
  };
  add("worker", "Measure for the fatune that started this process", work_for_parent);
  add("compile-worker", "Compile for the fatune that started this process", compile_for_parent);
}

}  // namespace fatune
