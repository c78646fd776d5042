#include "cli/option_groups.hpp"
#include "cli/subcommands.hpp"
#include "commands/show_command.hpp"

namespace fatune {
void add_show_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(all, "show", "Print a run again, in any format", show);
  sub.add_option("RUN", options.input,
                 "number from 'fatune history', last, or a results.json or best_configs.json")
      ->type_name("N|last|FILE")
      ->required();
  add_db_option(sub, options.db_file);
  sub.add_flag("--plot", options.plot, "also draw the main figures, in tables and Markdown");
  add_output_options(sub, options.output);
  add_view_options(sub, options.output.view);
  add_top_option(sub, options.output);
  sub.footer(R"(Examples:
  fatune show last
  fatune show 12 --top 0
  fatune show last --plot
  fatune show results/results.json
  fatune show last --filter "registers_per_thread <= 128 && B_r == 128"
  fatune show 12 --format csv)");
}

}  // namespace fatune
