#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "commands/history_command.hpp"

namespace fatune {

void add_history_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(all, "history", "List the stored runs", history);
  add_db_option(sub, options.db_file);
  add_output_options(sub, options.output);
  add_view_options(sub, options.output.view);
  sub.footer(R"(Examples:
  fatune history
  fatune history --columns run,started_at,best_tflops --sort best_tflops:desc
  fatune history --db lab.db --format json)");
}

}  // namespace fatune
