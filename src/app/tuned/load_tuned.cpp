#include "app/tuned/load_tuned.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/run/run_identity.hpp"
#include "app/study/study_inputs.hpp"
#include "app/version.hpp"
#include "core/error.hpp"
#include "core/ranges.hpp"
#include "data/file_tree.hpp"
#include "report/run_summary.hpp"
#include "results/results_file.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {
namespace {

std::string run_name(const std::optional<std::int64_t>& run) {
  return run ? fmt::format("run {}", *run) : "last run";
}

void add_run(const std::optional<std::filesystem::path>& db_file,
             const std::optional<std::int64_t>& run, const KernelsAtHand& kernels,
             TunedTable& table) {
  add_tuned(stored_report(db_file, run), run_name(run), kernels, table);
}

void add_runs(const std::vector<RunReport>& runs, const std::string& origin,
              const KernelsAtHand& kernels, TunedTable& table) {
  for (const RunReport& run : runs) {
    add_tuned(run, origin, kernels, table);
  }
}

void add_shipped(const FileTree& tree, const KernelsAtHand& kernels, TunedTable& table) {
  for (const std::string& path : tree.list(kShippedWinners)) {
    add_runs(read_results_text(tree.read(path), path), path, kernels, table);
  }
}

void add_latest_runs(const StoreOptions& store, const KernelsAtHand& kernels, TunedTable& table) {
  constexpr std::size_t kMost = 4;
  std::error_code ignored;
  if (store.file && !std::filesystem::exists(*store.file, ignored)) {
    return;  // it is about to be created
  }
  std::vector<RunSummary> runs = stored_runs(store.file);
  std::erase_if(runs, [](const RunSummary& run) {
    return !run.measured || !run.complete || run.outcomes == 0;
  });
  runs.resize(std::min(runs.size(), kMost));
  for (const RunSummary& run : runs) {
    add_run(store.file, run.id, kernels, table);
  }
}

void check_not_empty(const TunedTable& table) {
  if (table.problems.empty()) {
    const std::string why = table.skipped.empty() ? "" : ": " + table.skipped.front().reason;
    throw Error(ExitCode::bad_file, "it has no tuned problem that can be used" + why,
                table.origins.front().name, "give results that a sweep on a GPU has written");
  }
}

/// Loads the tuned problems that are known without being named: those that fatune ships and, unless
/// the store is off, those of its latest complete runs. The table may be empty.
TunedTable load_known(const StoreOptions& store, const FamilySet& families) {
  const SourceHashes hashes = source_hashes(families);
  const KernelsAtHand kernels{families, hashes};
  TunedTable table;
  add_shipped(FileTree(), kernels, table);
  if (!store.off) {
    add_latest_runs(store, kernels, table);
  }
  finish_table(table);
  return table;
}

// The nearest problem is often the same one, tuned earlier. The others say what else may be fast.
constexpr std::size_t kMostNear = 9;
constexpr std::size_t kMostOfEach = 3;
constexpr std::size_t kMost = 12;

std::vector<Config> suggestions(const TunedTable& table, const Problem& problem,
                                const DeviceLimits& limits) {
  std::vector<Config> configs;
  std::vector<NearRow> rows = near_rows(table, problem, limits);
  rows.resize(std::min(rows.size(), kMostNear));
  for (const NearRow& near : rows) {
    const std::vector<TunedTime>& times =
        table.problems.at(static_cast<std::size_t>(near.row)).times;
    for (std::size_t i = 0; i < std::min(times.size(), kMostOfEach); ++i) {
      if (configs.size() < kMost && !is_among(times[i].config, configs)) {
        configs.push_back(times[i].config);
      }
    }
  }
  return configs;
}

}  // namespace

TunedTable load_tuned(const TunedOptions& options, const FamilySet& families) {
  const SourceHashes hashes = source_hashes(families);
  const KernelsAtHand kernels{families, hashes};
  TunedTable table;
  for (const std::filesystem::path& path : options.best_files) {
    add_runs(read_results(path), path.string(), kernels, table);
  }
  for (const std::optional<std::int64_t>& run : options.runs) {
    add_run(options.db_file, run, kernels, table);
  }
  if (options.best_files.empty() && options.runs.empty()) {
    add_shipped(FileTree(), kernels, table);
  }
  finish_table(table);
  check_not_empty(table);
  return table;
}

ExportReport judge_tuned(TunedTable table, const FamilySet& families) {
  std::vector<LeftOut> left_out = leave_one_out(table, families_say(families));
  return {std::move(table), std::move(left_out), source_hashes(families), std::string(version())};
}

void suggest_tuned(const FamilySet& families, const StoreOptions& store, const DeviceLimits& limits,
                   std::vector<ProblemPlan>& problems) {
  const TunedTable table = load_known(store, families);
  for (ProblemPlan& plan : problems) {
    plan.suggested = suggestions(table, plan.problem, limits);
  }
}

}  // namespace fatune
