#include "commands/merge_command.hpp"

#include "cli/option_groups.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"

namespace fatune {

void add_merge_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "merge", "Join stores of measurements, e.g. those of a sweep's shards", merge);
  add_path_option(sub, "TARGET", "FILE",
                  "database that gets the runs; it is created if it is missing", options.target)
      ->required();
  add_paths(sub, "DB", "FILE", "databases to copy the runs from; they stay as they are",
            options.stores)
      ->required();
  sub.add_flag("--grouped", options.grouped,
               "also runs of several GPU models, drivers or policies; they stay separate runs");
  add_output_options(sub, options.output);
  sub.footer(R"(Examples:
  fatune merge all.db shard-1.db shard-2.db
  fatune history --db all.db
  fatune report last --db all.db --out all.html)");
}

}  // namespace fatune
