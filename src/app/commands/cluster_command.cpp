#include "app/commands/cluster_command.hpp"

#include <ctime>
#include <numeric>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/commands/merge_command.hpp"
#include "app/console/console.hpp"
#include "app/fleet/deliver.hpp"
#include "app/fleet/fleet_folder.hpp"
#include "app/fleet/sbatch_script.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/mapped.hpp"
#include "core/text_parts.hpp"
#include "emit/list_reports.hpp"
#include "emit/output_file.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArrayFile = "array.sbatch";
constexpr const char* kMergeFile = "merge.sbatch";
constexpr const char* kReportFile = "report.sbatch";

/// Returns a name that no other fleet has, even in the same folder.
std::string new_name(const fs::path& folder) {
  return fmt::format("{}-{:%Y%m%d%H%M%S}", folder.filename().string(),
                     fmt::gmtime(std::time(nullptr)));
}

fs::path absolute_folder(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

SbatchSettings settings_of(const ClusterSbatchOptions& options) {
  const fs::path folder = absolute_folder(options.folder);
  return {fs::read_symlink("/proc/self/exe"),
          fs::current_path(),
          folder,
          {new_name(folder), options.shards, options.limit},
          options.sweep,
          options.gres,
          options.constraint,
          options.more,
          mapped(options.bundles, [](const fs::path& path) { return fs::absolute(path); })};
}

/// Gives a script to Slurm, and returns the job's number.
std::string submit_job(std::vector<std::string> arguments) {
  const auto sbatch = find_tool("sbatch", tool_places("FATUNE_SBATCH"));
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

ShardRow shard_row(const ShardState& state) { return {state.number, state.lacks, state.exit_code}; }

std::vector<ShardState> undone_shards(const fs::path& folder, const FleetPlan& plan) {
  std::vector<ShardState> states = shard_states(folder, plan);
  std::erase_if(states, [](const ShardState& state) { return state.lacks.empty(); });
  return states;
}

}  // namespace

ExitCode cluster_sbatch(const ClusterSbatchOptions& options) {
  const SbatchSettings settings = settings_of(options);
  const std::string array = array_script(settings);  // throws before any file is written
  write_fleet(settings.folder, settings.plan);
  write_output_file(settings.folder / kArrayFile, array);
  write_output_file(settings.folder / kMergeFile, merge_script(settings));
  write_output_file(settings.folder / kReportFile, report_script(settings));
  fs::create_directories(settings.folder / "logs");  // Slurm does not create it
  if (options.submit) {
    std::vector<int> all(static_cast<std::size_t>(options.shards));
    std::iota(all.begin(), all.end(), 1);
    submit_fleet(settings.folder, array_text(all, settings.plan), options.output);
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
  print_document(missing_document(mapped(undone, shard_row), plan.shards), options.output);
  return undone.empty() ? ExitCode::ok : ExitCode::incomplete;
}

ExitCode cluster_retry(const FleetOptions& options) {
  const FleetPlan plan = read_fleet(options.folder);
  const auto undone = undone_shards(options.folder, plan);
  if (undone.empty()) {
    print_note(options.output, fmt::format("all {} shards are done", plan.shards));
  } else if (options.dry_run) {
    print_document(missing_document(mapped(undone, shard_row), plan.shards), options.output);
  } else {
    submit_fleet(absolute_folder(options.folder),
                 array_text(mapped(undone, &ShardState::number), plan), options.output);
  }
  return ExitCode::ok;
}

ExitCode cluster_merge(const FleetOptions& options) {
  const FleetPlan plan = read_fleet(options.folder);
  std::vector<fs::path> stores;
  for (const ShardState& state : shard_states(options.folder, plan)) {
    if (!state.database.empty()) {
      stores.push_back(state.database);
    }
  }
  const Delivery delivery =
      join_stores(stores, options.grouped ? Mixture::grouped : Mixture::refused);
  write_output_file(options.folder / "merged.db", delivery.bytes);
  print_merged(delivery.stores, options.output);
  return ExitCode::ok;
}

}  // namespace fatune
