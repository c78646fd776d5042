#include "store/study_inputs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.hpp"
#include "base/json_file.hpp"
#include "base/ranges.hpp"
#include "base/task_pool.hpp"
#include "base/text_parts.hpp"
#include "base/version.hpp"
#include "choose/time_fit.hpp"
#include "choose/tuned_choice.hpp"
#include "race/ranking.hpp"
#include "store/open_store.hpp"
#include "store/results_file.hpp"
#include "store/run_reader.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

std::optional<Database> open_if_there(const std::optional<fs::path>& file) {
  const auto path = file ? file : default_store_path();
  std::error_code ignored;
  if (!path || (!file && !fs::exists(*path, ignored))) {
    return std::nullopt;
  }
  return open_store(*path, Database::Mode::existing);
}

ProblemReport ranked_report(StoredProblem problem, const std::optional<Config>& baseline) {
  if (!problem.ranked) {
    sort_into_report(std::exchange(problem.report.ranking, {}), baseline, problem.report);
  }
  return std::move(problem.report);
}

constexpr std::array<std::string_view, 2> kOtherFormats{"sass_why", "compare_peers"};
constexpr const char* kShippedGpu = "NVIDIA H200";

/// Throws Error(bad_file) for what is neither a stored run's name nor a file.
void check_exists(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw Error(ExitCode::bad_file, "there is no such file", file.string(),
                "name a file, or a stored run: its number in 'fatune history', or last");
  }
}

bool leaves_out_results(const RunReport& run) {
  return std::ranges::any_of(run.problems, [](const ProblemReport& problem) {
    return problem.more_ranked + problem.more_failed > 0;
  });
}

InputRuns file_runs(const std::filesystem::path& file) {
  check_exists(file);
  std::vector<RunReport> runs = read_results(file);
  const bool leaves_out = std::ranges::any_of(runs, leaves_out_results);
  return {file.string(), std::move(runs), leaves_out};
}

InputRuns stored_runs_of(const std::string& input,
                         const std::optional<std::filesystem::path>& db_file) {
  const std::optional<std::int64_t> number = whole_number<std::int64_t>(input);
  return {number ? "run " + input : "the last run", {stored_report(db_file, number)}};
}

/// The last `parts` parts of a path: "before/results.json".
std::string end_of(const std::filesystem::path& file, std::size_t parts) {
  const std::vector<std::filesystem::path> all(file.begin(), file.end());
  std::filesystem::path end;
  for (std::size_t i = all.size() - std::min(parts, all.size()); i < all.size(); ++i) {
    end /= all[i];
  }
  return end.string();
}

/// The name of each file: its own, or with as many folders before it as tell it from the others.
std::map<std::string, std::string> names_of(const std::vector<std::string>& files) {
  std::map<std::string, std::string> names;
  for (const std::string& file : files) {
    const std::filesystem::path path = std::filesystem::absolute(file).lexically_normal();
    std::size_t parts = 1;
    const auto is_shared = [&](const std::string& other) {
      const auto other_path = std::filesystem::absolute(other).lexically_normal();
      return other_path != path && end_of(other_path, parts) == end_of(path, parts);
    };
    while (std::ranges::any_of(files, is_shared)) {
      ++parts;
    }
    names[file] = end_of(path, parts);
  }
  return names;
}

/// Numbers equal names, as of a file that is named twice.
void number_equal(std::vector<std::string>& names) {
  std::map<std::string, int> uses;
  for (std::string& name : names) {
    if (const int use = ++uses[name]; use > 1) {
      name += fmt::format(" ({})", use);
    }
  }
}

void add_runs(StudyReport& report, std::vector<RunReport> runs, const std::string& name) {
  for (RunReport& run : runs) {
    report.names.push_back(runs.size() == 1 ? name : name + ", " + run.device.name);
    report.runs.push_back(std::move(run));
  }
}

void add_other(StudyReport& report, const JsonNode& document) {
  if (document.at("format").text() == "fatune.compare_peers") {
    report.peers.push_back(read_peers(document));
    return;
  }
  for (CodeStudy& study : read_code_studies(document)) {
    report.code.push_back(std::move(study));
  }
}

void add_file(StudyReport& report, const std::filesystem::path& file, const std::string& name) {
  check_exists(file);
  const std::string format = output_format_of(file);
  const bool is_other = std::ranges::any_of(kOtherFormats, [&](std::string_view other) {
    return format == fmt::format("fatune.{}", other);
  });
  if (is_other) {
    add_other(report, load_json_from_disk(FileTree(), file, kOtherFormats).root());
  } else {
    add_runs(report, read_results(file), name);
  }
}

/// The GPUs that fatune ships results of.
std::vector<DeviceLimits> shipped_gpus(const FileTree& tree) {
  std::vector<DeviceLimits> gpus;
  for (const std::string& path : tree.list(kShippedWinners)) {
    for (const RunReport& run : read_results_text(tree.read(path), tree.origin(path))) {
      gpus.push_back(run.device);
    }
  }
  return gpus;
}

/// Adds what fatune ships for the GPU that `gpu` names. Throws Error(usage) if that is nothing.
void add_shipped(StudyReport& report, const std::string& gpu) {
  const FileTree tree;
  std::optional<InputRuns> shipped = shipped_results(tree, gpu, "--gpu");
  if (!shipped) {
    throw Error(ExitCode::usage, fmt::format("fatune ships no results of '{}'", gpu), "--gpu",
                "known: " + joined(shipped_gpus(tree), ", ", &DeviceLimits::name));
  }
  std::optional<PeerStudy> peers = known_peers(shipped->runs.front().device);
  add_runs(report, std::move(shipped->runs), shipped->name);
  if (peers) {
    report.peers.push_back(*std::move(peers));
  }
}

void add_run(const std::optional<std::filesystem::path>& db_file,
             const std::optional<std::int64_t>& run, const KernelsAtHand& kernels,
             TunedTable& table) {
  add_tuned(stored_report(db_file, run), run ? fmt::format("run {}", *run) : "last run", kernels,
            table);
}

void add_runs(const std::vector<RunReport>& runs, const std::string& origin,
              const KernelsAtHand& kernels, TunedTable& table) {
  for (const RunReport& run : runs) {
    add_tuned(run, origin, kernels, table);
  }
}

void add_shipped(const FileTree& tree, const KernelsAtHand& kernels, TunedTable& table) {
  std::vector<std::string> paths;
  for (const char* folder : kShippedFolders) {
    append(paths, tree.list(folder));
  }
  std::vector<std::vector<RunReport>> runs(paths.size());
  for_each_index(paths.size(), usable_cores(), [&](std::size_t i) {
    runs[i] = read_results_text(tree.read(paths[i]), paths[i]);
  });
  for (std::size_t i = 0; i < paths.size(); ++i) {
    add_runs(runs[i], paths[i], kernels, table);
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

/// The kind of the tuned problems that say something about a problem.
fatune_attention::detail::Kind kernel_kind_asked(const Problem& problem) {
  namespace runtime = fatune_attention::detail;
  return kernel_kind(runtime::kind_of(runtime::problem_of_rows(runtime_problem(problem))));
}

/// Loads the tuned problems that are known without being named, and say something about one of
/// `problems`: of those that fatune ships and, unless the store is off, of those of its latest
/// complete runs. The table may be empty.
TunedTable load_known(const StoreOptions& store, const FamilySet& families,
                      const std::vector<ProblemPlan>& problems) {
  const SourceHashes hashes = source_hashes(families);
  const KernelsAtHand kernels{families, hashes};
  TunedTable table;
  add_shipped(FileTree(), kernels, table);
  if (!store.off) {
    add_latest_runs(store, kernels, table);
  }
  std::set<fatune_attention::detail::Kind> kinds;
  for (const ProblemPlan& plan : problems) {
    kinds.insert(kernel_kind_asked(plan.problem));
  }
  std::erase_if(table.problems,
                [&](const TunedProblem& row) { return !kinds.contains(kernel_kind(row)); });
  add_model_times(table, families);
  finish_table(table);
  return table;
}

// The nearest problem is often the same one, tuned earlier. The others say what else may be fast.
constexpr std::size_t kMostNear = 9;
constexpr std::size_t kMostOfEach = 3;
constexpr std::size_t kMost = 12;

/// What is predicted to be fastest, else what was fast on the nearest problems.
std::vector<Config> suggestions(const TunedTable& table, const Problem& problem,
                                const DeviceLimits& limits, const FamilySet& families) {
  std::vector<Config> configs = predicted_order(table, problem, limits, families_say(families));
  if (!configs.empty()) {
    configs.resize(std::min(configs.size(), kMost));
    return configs;
  }
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

std::vector<RunSummary> stored_runs(const std::optional<fs::path>& file) {
  std::optional<Database> database = open_if_there(file);
  if (!database) {
    return {};
  }
  RunList list = list_runs(*database);
  for (const std::int64_t run : list.damaged) {
    spdlog::warn("run {} is damaged, and left out", run);
  }
  return std::move(list.runs);
}

RunReport stored_report(const std::optional<fs::path>& file, std::optional<std::int64_t> run) {
  std::optional<Database> database = open_if_there(file);
  const auto id = run || !database ? run : last_run(*database);
  std::optional<StoredRun> stored =
      database && id ? load_run(*database, *id) : std::optional<StoredRun>();
  if (!stored) {
    throw Error(ExitCode::usage,
                run ? fmt::format("no run {} is stored", *run) : "no run is stored", {},
                "'fatune history' lists the runs; sweep and run store one");
  }
  RunReport report = std::move(stored->header);
  for (StoredProblem& problem : stored->problems) {
    report.problems.push_back(ranked_report(std::move(problem), stored->baseline));
  }
  report.choices = common_choices(report.problems);
  return report;
}

InputRuns shipped_results(const FileTree& tree, const DeviceLimits& device) {
  const std::string path = fmt::format("{}{}.json", kShippedWinners, file_name_part(device.name));
  if (!tree.contains(path)) {
    const auto nearest = nearest_device(shipped_gpus(tree), device);
    throw Error(ExitCode::usage, fmt::format("fatune ships no winners for {}", device.name), "FILE",
                "give a best_configs.json that a sweep has written" +
                    (nearest ? fmt::format("; or try those of the nearest GPU, {}: fatune "
                                           "verify-winner {}",
                                           nearest->name, file_name_part(nearest->name))
                             : ""));
  }
  return {"what fatune ships", read_results_text(tree.read(path), tree.origin(path)), true};
}

std::optional<InputRuns> shipped_results(const FileTree& tree, const std::string& name,
                                         const std::string& where) {
  const std::optional<DeviceLimits> device = find_device(shipped_gpus(tree), name, where);
  return device ? std::optional(shipped_results(tree, *device)) : std::nullopt;
}

std::optional<PeerStudy> known_peers(const DeviceLimits& device) {
  const FileTree tree;
  const std::string path = fmt::format("configs/peers/{}.json", file_name_part(device.name));
  return tree.contains(path)
             ? std::optional(read_peers(load_json(tree, path, "compare_peers").root()))
             : std::nullopt;
}

InputRuns load_runs(const std::string& input, const std::optional<std::filesystem::path>& db_file) {
  return is_stored_run(input) ? stored_runs_of(input, db_file) : file_runs(input);
}

RunReport run_of(InputRuns input, const std::string& device) {
  std::vector<RunReport>& runs = input.runs;
  auto found = runs.begin();
  if (runs.size() > 1) {
    found = std::ranges::find(
        runs, device, [](const RunReport& run) -> const std::string& { return run.device.name; });
  }
  if (found == runs.end()) {
    throw Error(ExitCode::usage, "it has no run, or several of other GPU models", input.name,
                "compare runs of one model");
  }
  return std::move(*found);
}

StudyReport load_study(const std::vector<std::string>& inputs,
                       const std::optional<std::filesystem::path>& db_file,
                       const std::optional<std::string>& shipped_gpu) {
  StudyReport report;
  if (inputs.empty()) {
    add_shipped(report, shipped_gpu.value_or(kShippedGpu));
  }
  const auto names = names_of(inputs);
  for (const std::string& input : inputs) {
    if (is_stored_run(input)) {
      InputRuns stored = stored_runs_of(input, db_file);
      add_runs(report, std::move(stored.runs), stored.name);
    } else {
      add_file(report, input, names.at(input));
    }
  }
  number_equal(report.names);
  if (report.runs.empty()) {
    throw Error(ExitCode::usage, "none of the inputs is a run",
                "name a run of 'fatune history', a results.json or a best_configs.json too");
  }
  return report;
}

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
  add_model_times(table, families);
  finish_table(table);
  check_not_empty(table);
  return table;
}

ExportReport judge_tuned(TunedTable table, const FamilySet& families, const RowFilter& wanted) {
  std::vector<LeftOut> left_out = leave_one_out(table, families_say(families), wanted);
  return {std::move(table), std::move(left_out), source_hashes(families), std::string(version())};
}

void suggest_tuned(const FamilySet& families, const StoreOptions& store, const DeviceLimits& limits,
                   std::vector<ProblemPlan>& problems) {
  const TunedTable table = load_known(store, families, problems);
  for (ProblemPlan& plan : problems) {
    plan.suggested = suggestions(table, plan.problem, limits, families);
  }
}

}  // namespace fatune
