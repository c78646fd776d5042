#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "base/cuda_installation.hpp"
#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/run_program.hpp"
#include "base/text_parts.hpp"
#include "cli/subcommands.hpp"
#include "commands/commands.hpp"
#include "commands/row_reports.hpp"
#include "print/files.hpp"
#include "store/fleet_folder.hpp"
#include "store/merge.hpp"
#include "store/open_store.hpp"

namespace fatune {

Fields<ShardState> missing_shard_fields() {
  using S = ShardState;
  return {
      {"shard", "shard", &S::number},
      {"exit_code", "exit code", &S::exit_code},
      {"lacks", "lacks", &S::lacks},
  };
}

Fields<MergedStore> merged_store_fields() {
  using M = MergedStore;
  return {
      {"file", "file", [](auto& m) { return m.file.string(); }},
      {"added", "added", &M::added},
      {"renewed", "renewed", &M::renewed},
      {"known", "known", &M::known},
      {"damaged", "damaged", [](auto& m) { return m.damaged.size(); }},
      {"outcomes", "outcomes", &M::outcomes},
  };
}

namespace {

/// A shard without problems leaves a store without runs; a copy that failed leaves an empty file.
void say_if_empty(const MergedStore& store, const OutputOptions& output) {
  std::error_code ignored;
  if (std::filesystem::file_size(store.file, ignored) == 0) {
    spdlog::warn("{} has 0 bytes, and so no runs: was it copied whole?", store.file.string());
  } else if (store.added + store.renewed + store.known + std::ssize(store.damaged) == 0) {
    print_note(output, fmt::format("{} has no runs", store.file.string()));
  }
}

/// Warns about damaged runs that were left out, and prints the result for each store.
void print_merged(const std::vector<MergedStore>& stores, const OutputOptions& output) {
  for (const MergedStore& store : stores) {
    for (const std::int64_t run : store.damaged) {
      spdlog::warn("run {} of {} is damaged, and left out", run, store.file.string());
    }
    say_if_empty(store, output);
  }
  print_document(rows_document("merge", "stores", merged_store_fields(), stores), output);
}

struct MergeOptions {
  std::filesystem::path target;
  std::vector<std::filesystem::path> stores;
  bool grouped = false;  ///< accept several GPU models, drivers or policies
  OutputOptions output;
};

/// Merges the stores into the target: either all of them or none.
ExitCode merge(const MergeOptions& options) {
  Database target = open_store(options.target, Database::Mode::create);
  print_merged(
      merge_stores(target, options.stores, options.grouped ? Mixture::grouped : Mixture::refused),
      options.output);
  return ExitCode::ok;
}

// Job scripts for Slurm. Every value in them is one word of the shell.

struct SbatchSettings {
  std::filesystem::path program;  ///< path of fatune on the nodes
  std::filesystem::path start;    ///< folder that paths in the sweep's options are relative to
  std::filesystem::path folder;   ///< the fleet's folder; absolute
  FleetPlan plan;
  std::vector<std::string> sweep;              ///< options of `fatune sweep`
  std::optional<std::string> gres;             ///< for example "gpu:1"
  std::optional<std::string> constraint;       ///< for example "h200"
  std::vector<std::string> more;               ///< further options of sbatch, as "--time=2:00:00"
  std::vector<std::filesystem::path> bundles;  ///< bundles of compiled kernels that shards import
};

using Words = std::vector<std::string>;

std::string command(const Words& words) { return joined(words, " ", shell_word) + "\n"; }

/// Returns a line that sbatch reads. It takes quotes as a shell does, but a value cannot span
/// lines.
std::string setting(const std::string& option, const std::string& value) {
  const auto is_control = [](unsigned char c) { return c < ' '; };
  if (std::ranges::any_of(option + value, is_control)) {
    throw Error(ExitCode::usage, "a job script cannot contain a control character", option,
                "sbatch reads these options line by line");
  }
  return "#SBATCH " + option + (value.empty() ? "" : "=" + shell_word(value)) + "\n";
}

/// Returns the head of a script. `log`: the log's name, in which Slurm inserts the job's number.
std::string head(const SbatchSettings& settings, const char* job, const char* log) {
  const std::string folder = settings.folder.string();
  if (folder.find_first_of("%\\") != std::string::npos) {
    throw Error(ExitCode::usage, "Slurm replaces what follows % and \\ in the names of logs",
                folder, "name a folder without them");
  }
  return "#!/bin/bash\n" +
         setting("--job-name", fmt::format("fatune-{}-{}", settings.plan.name, job)) +
         setting("--chdir", settings.start.string()) +
         setting("--output", (settings.folder / "logs" / log).string());
}

std::string further(const SbatchSettings& settings) {
  std::string lines;
  for (const std::string& option : settings.more) {
    const std::size_t equals = option.find('=');
    lines += setting(option.substr(0, equals),
                     equals == std::string::npos ? std::string() : option.substr(equals + 1));
  }
  return lines;
}

std::string import_line(const SbatchSettings& settings) {
  if (settings.bundles.empty()) {
    return {};
  }
  Words words{settings.program.string(), "cache", "import", "--quiet"};
  append(words, mapped(settings.bundles, [](const auto& bundle) { return bundle.string(); }));
  return command(words);
}

/// Returns "1-8%4" for all shards, or "2,5%4" for some. `numbers`: no others are started.
std::string array_text(const FleetPlan& plan, const std::vector<int>& numbers = {}) {
  const bool all = numbers.empty() || std::ssize(numbers) == plan.shards;
  const std::string list =
      all ? fmt::format("1-{}", plan.shards) : fmt::format("{}", fmt::join(numbers, ","));
  return plan.limit > 0 ? fmt::format("{}%{}", list, plan.limit) : list;
}

/// Returns the script of a job array of the shards. Throws Error(usage) for a control character in
/// a #SBATCH line, and for a folder in whose name Slurm would replace something.
std::string array_script(const SbatchSettings& settings) {
  std::string script =
      head(settings, "shards", "%A_%a.log") + setting("--array", array_text(settings.plan));
  script += settings.gres ? setting("--gres", *settings.gres) : "";
  script += settings.constraint ? setting("--constraint", *settings.constraint) : "";
  script += further(settings);
  Words sweep{settings.program.string(), "sweep"};
  append(sweep, settings.sweep);
  append(sweep, Words{"--fleet", settings.plan.name, "--record",
                      records_folder(settings.folder).string()});
  const std::string sweep_words = joined(sweep, " ", shell_word);
  return script +
         "set -eu\n"
         "scratch=$(mktemp -d)\n"
         "trap 'rm -rf \"$scratch\"' EXIT\n" +
         import_line(settings) + sweep_words + " \\\n  --shard \"$SLURM_ARRAY_TASK_ID\"/" +
         std::to_string(settings.plan.shards) + " --db \"$scratch\"/shard.db\n";
}

std::string merge_script(const SbatchSettings& settings) {
  return head(settings, "merge", "merge_%j.log") + "set -eu\n" +
         command({settings.program.string(), "cluster", "merge", settings.folder.string()});
}

std::string report_script(const SbatchSettings& settings) {
  return head(settings, "report", "report_%j.log") + "set -eu\n" +
         command({settings.program.string(), "report", "last", "--db",
                  (settings.folder / "merged.db").string(), "--out",
                  (settings.folder / "report.html").string()});
}

/// The options say what complete() does not.
struct SbatchOptions : SbatchSettings {
  bool submit = false;
  OutputOptions output;
};

struct FleetOptions {
  std::filesystem::path folder;
  bool dry_run = false;  ///< retry: only say what would be repeated
  bool grouped = false;  ///< merge: as MergeOptions::grouped
  OutputOptions output;
};

namespace fs = std::filesystem;

constexpr const char* kArrayFile = "array.sbatch";
constexpr const char* kMergeFile = "merge.sbatch";
constexpr const char* kReportFile = "report.sbatch";

fs::path absolute_folder(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

/// Adds to the settings what no option says, and makes their paths absolute.
SbatchSettings complete(SbatchSettings settings) {
  settings.program = fs::read_symlink("/proc/self/exe");
  settings.start = fs::current_path();
  settings.folder = absolute_folder(settings.folder);
  settings.plan.name =  // no other fleet has it, even in the same folder
      fmt::format("{}-{:%Y%m%d%H%M%S}", settings.folder.filename().string(),
                  fmt::gmtime(std::time(nullptr)));
  for (fs::path& bundle : settings.bundles) {
    bundle = fs::absolute(bundle);
  }
  return settings;
}

/// Gives a script to Slurm, and returns the job's number.
std::string submit_job(std::vector<std::string> arguments) {
  const auto sbatch = find_tool("sbatch");
  if (!sbatch) {
    throw Error(ExitCode::bad_file, "sbatch, Slurm's command, is not installed here", {},
                "go to a node that has it, or name its path in FATUNE_SBATCH");
  }
  arguments.insert(arguments.begin(), "--parsable");
  const std::string out = run_program(sbatch->string(), arguments).out;
  return out.substr(0, out.find_first_of(";\n"));
}

/// Submits the shards, then the merge, which runs even if shards fail, then the report, which needs
/// the merge.
void submit_fleet(const fs::path& folder, const std::string& array, const OutputOptions& output) {
  const auto script = [&](const char* name) { return (folder / name).string(); };
  const std::string shards = submit_job({"--array=" + array, script(kArrayFile)});
  const std::string merged = submit_job({"--dependency=afterany:" + shards, script(kMergeFile)});
  const std::string report = submit_job({"--dependency=afterok:" + merged, script(kReportFile)});
  print_note(output, fmt::format("jobs {} (shards {}), {} (merge), {} (report)", shards, array,
                                 merged, report));
}

std::vector<ShardState> undone_shards(const fs::path& folder, const FleetPlan& plan) {
  std::vector<ShardState> states = shard_states(folder, plan);
  std::erase_if(states, [](const ShardState& state) { return state.lacks.empty(); });
  return states;
}

/// Prints the shards that are not done, out of those of the fleet. JSON:
/// configs/schema/cluster_missing.schema.json.
void print_missing(const std::vector<ShardState>& undone, int shards, const OutputOptions& output) {
  print_document(rows_document("cluster_missing", "missing", missing_shard_fields(), undone,
                               {.members = {{"shards", shards}},
                                .if_empty = fmt::format("all {} shards are done\n", shards)}),
                 output);
}

ExitCode cluster_sbatch(const SbatchOptions& options) {
  const SbatchSettings settings = complete(options);
  const std::string array = array_script(settings);  // throws before any file is written
  write_fleet(settings.folder, settings.plan);
  write_output_file(settings.folder / kArrayFile, array);
  write_output_file(settings.folder / kMergeFile, merge_script(settings));
  write_output_file(settings.folder / kReportFile, report_script(settings));
  fs::create_directories(settings.folder / "logs");  // Slurm does not create it
  if (options.submit) {
    submit_fleet(settings.folder, array_text(settings.plan), options.output);
  } else {
    print_note(options.output, fmt::format("wrote {}; 'fatune cluster retry {}' submits to Slurm "
                                           "all shards that are not done",
                                           (settings.folder / kArrayFile).string(),
                                           shell_word(options.folder.string())));
  }
  return ExitCode::ok;
}

ExitCode cluster_missing(const FleetOptions& options) {
  const FleetPlan plan = read_fleet(options.folder);
  const std::vector<ShardState> undone = undone_shards(options.folder, plan);
  print_missing(undone, plan.shards, options.output);
  return undone.empty() ? ExitCode::ok : ExitCode::incomplete;
}

/// Gives those shards to Slurm again, followed by a merge and a report.
ExitCode cluster_retry(const FleetOptions& options) {
  const FleetPlan plan = read_fleet(options.folder);
  const auto undone = undone_shards(options.folder, plan);
  if (undone.empty()) {
    print_note(options.output, fmt::format("all {} shards are done", plan.shards));
  } else if (options.dry_run) {
    print_missing(undone, plan.shards, options.output);
  } else {
    submit_fleet(absolute_folder(options.folder),
                 array_text(plan, mapped(undone, &ShardState::number)), options.output);
  }
  return ExitCode::ok;
}

ExitCode cluster_merge(const FleetOptions& options) {
  const FleetPlan plan = read_fleet(options.folder);
  std::vector<fs::path> stores = mapped(shard_states(options.folder, plan), &ShardState::database);
  std::erase(stores, "");
  const Delivery delivery =
      join_stores(stores, options.grouped ? Mixture::grouped : Mixture::refused);
  write_output_file(options.folder / "merged.db", delivery.bytes);
  print_merged(delivery.stores, options.output);
  return ExitCode::ok;
}

constexpr std::int64_t kMostFleetShards = 100'000;

/// Checks that `words` are options of a shard's `fatune sweep`, so that wrong ones fail here and
/// not in each shard. Returns `words`.
std::vector<std::string> checked_sweep(const Subcommands& all,
                                       const std::vector<std::string>& words) {
  CLI::App app;
  Command unused;
  const GlobalOptions global;
  add_sweep_command({app, all.output, global, unused});
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
              kMostFleetShards, options.plan.shards)
      ->required();
  add_integer(sub, "--limit", "how many of them run at a time (default: all)", 1, kMostFleetShards,
              options.plan.limit);
  add_value(sub, "--gres", "TEXT", "what each needs, e.g. gpu:1", options.gres);
  add_value(sub, "--constraint", "TEXT", "features that its node must have, e.g. h200",
            options.constraint);
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
