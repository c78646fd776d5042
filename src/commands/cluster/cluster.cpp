#include "commands/cluster/cluster_command.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/option_groups.hpp"
#include "cli/path_option.hpp"
#include "cli/subcommands.hpp"
#include "commands/sweep/sweep_command.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostFleetShards = 100'000;

/// Checks that `words` are options of a shard's `fatune sweep`, so that wrong ones fail here and
/// not in each shard. Returns `words`.
std::vector<std::string> checked_sweep(const Subcommands& all,
                                       const std::vector<std::string>& words) {
  CLI::App app;
  Command unused;
  const GlobalOptions global;
  add_sweep_command({app, all.output, global, all.kernels_variable, unused});
  std::vector<std::string> line{"sweep",    "--shard", "1/1",  "--fleet", "x",
                                "--record", "x",       "--db", "x"};  // added by the script
  line.insert(line.end(), words.begin(), words.end());
  std::ranges::reverse(line);  // CLI11 takes the words in reverse order
  app.parse(std::move(line));
  return words;
}

void add_sbatch_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "sbatch", "Write Slurm's scripts: a job array of shards, the merge, the report",
      cluster_sbatch);
  add_path_option(sub, "DIR", "DIR", "folder that all nodes see: for scripts, records and results",
                  options.folder)
      ->required();
  sub.add_option_function<std::vector<std::string>>(
         "SWEEP",
         [all, &options = options](const std::vector<std::string>& words) {
           options.sweep = checked_sweep(all, words);
         },
         "options of 'fatune sweep', after --")
      ->type_name("TEXT");
  add_integer(sub, "--shards", "number of parts into which the sweep is divided", 1,
              kMostFleetShards, options.shards)
      ->required();
  add_integer(sub, "--limit", "how many of them run at a time (default: all)", 1, kMostFleetShards,
              options.limit);
  add_text_option(sub, "--gres", "TEXT", "what each needs, e.g. gpu:1",
                  [&options = options](const std::string& text) { options.gres = text; });
  add_text_option(sub, "--constraint", "TEXT", "features that its node must have, e.g. h200",
                  [&options = options](const std::string& text) { options.constraint = text; });
  sub.add_option("--sbatch", options.more,
                 "another option of sbatch, e.g. --time=2:00:00; repeatable")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  add_paths(sub, "--cubins", "FILE", "compiled kernels to import first; repeatable",
            options.bundles);
  sub.add_flag("--submit", options.submit, "submit the jobs to Slurm at once");
  add_verbosity_options(sub, options.output);
  sub.footer(R"(Examples:
  fatune cluster sbatch fleet --shards 8 --limit 4 --gres gpu:1 -- \
    --seq 512,1024,2048 --dhead 128)");
}

void add_fleet_folder(CLI::App& app, FleetOptions& options) {
  add_path_option(app, "DIR", "DIR", "folder given to 'fatune cluster sbatch'", options.folder)
      ->required();
  add_output_options(app, options.output);
}

void add_missing_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "missing", "List the shards that are not done, and why", cluster_missing);
  add_fleet_folder(sub, options);
  sub.footer("Exit code 14: there are some.\n\nExamples:\n  fatune cluster missing fleet");
}

void add_retry_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "retry", "Submit to Slurm the shards that are not done", cluster_retry);
  add_fleet_folder(sub, options);
  sub.add_flag("--dry-run", options.dry_run, "only list them");
  sub.footer("Examples:\n  fatune cluster retry fleet --dry-run");
}

void add_merge_command_of_cluster(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "merge", "Join what the shards have delivered into DIR/merged.db", cluster_merge);
  add_fleet_folder(sub, options);
  sub.add_flag("--grouped", options.grouped, "as in 'fatune merge'");
  sub.footer("Examples:\n  fatune cluster merge fleet");
}

}  // namespace

void add_cluster_command(const Subcommands& all) {
  CLI::App* const sub = all.parent.add_subcommand("cluster", "Run a sweep on a cluster with Slurm");
  sub->require_subcommand(1);
  const Subcommands inner = within(all, *sub);
  add_sbatch_command(inner);
  add_missing_command(inner);
  add_retry_command(inner);
  add_merge_command_of_cluster(inner);
  sub->footer(R"(Examples:
  fatune cluster sbatch fleet --shards 8 --gres gpu:1 -- --seq 512,1024,2048
  fatune cluster retry fleet --dry-run
  fatune cluster missing fleet)");
}

}  // namespace fatune
