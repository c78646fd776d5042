#include <memory>

#include "app/commands.hpp"
#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"

namespace fatune {

void add_history_command(CLI::App& app, const CommandDefaults& defaults, Command& command) {
  auto options = std::make_shared<HistoryOptions>();
  options->output = defaults.output;
  CLI::App* sub = app.add_subcommand("history", "List the stored runs");
  add_db_option(*sub, options->db_file);
  add_output_options(*sub, options->output);
  sub->footer(R"(Examples:
  fatune history
  fatune history --db lab.db --format json)");
  sub->callback([options, &command] { command = [options] { return history(*options); }; });
}

}  // namespace fatune
