#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_tree.hpp"
#include "choose/tuned_choice.hpp"
#include "choose/tuned_file.hpp"
#include "model/device_limits.hpp"
#include "model/emulation.hpp"
#include "model/options.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"
#include "plan/problem_plan.hpp"
#include "print/figures/plots.hpp"
#include "race/study_rows.hpp"

namespace fatune {

/// Returns all runs of the store that the option names, the latest first. Returns none if the
/// default file does not exist yet. Throws Error(bad_file) and Error(io) as open_store().
[[nodiscard]] std::vector<RunSummary> stored_runs(const std::optional<std::filesystem::path>& file);

/// Returns a stored run with everything that is known of it. Without a number, returns the latest
/// run. If the run was killed within a problem, that problem is ranked from what was stored. Throws
/// Error(usage) if there is no such run.
[[nodiscard]] RunReport stored_report(const std::optional<std::filesystem::path>& file,
                                      std::optional<std::int64_t> run);

/// The runs of one input.
struct InputRuns {
  std::string name;  ///< what people read: the name that was given, or "run 12"
  std::vector<RunReport> runs;
  bool has_winners_only = false;  ///< it leaves results out, as a best_configs.json does
};

/// Loads the runs of one input. `input`: a run of the store `db_file` by number, or "last"; or a
/// file that a run has written. Throws Error(usage) if there is no such run, and Error(bad_file) if
/// a file cannot be read.
[[nodiscard]] InputRuns load_runs(const std::string& input,
                                  const std::optional<std::filesystem::path>& db_file);

/// Whether `input` names a run of the store.
[[nodiscard]] inline bool is_stored_run(const std::string& input) {
  return input == "last" || whole_number<std::int64_t>(input);
}

/// Returns the only run of `input`, or of several that of the GPU model `device`. Throws
/// Error(usage) if there is none.
[[nodiscard]] RunReport run_of(InputRuns input, const std::string& device);

/// Loads the runs that `inputs` name, and the rest of their content. A number, or "last", is a run
/// of the store `db_file`. Anything else is a file: an output of a run, of `sass why`, or of
/// compare_peers. Without inputs, loads what fatune ships for the GPU that `shipped_gpu` names by
/// its name or a part of it (default: the H200). Throws Error(usage) if there is no such run or
/// GPU, or no run among the inputs, and Error(bad_file) if a file cannot be read.
[[nodiscard]] StudyReport load_study(const std::vector<std::string>& inputs,
                                     const std::optional<std::filesystem::path>& db_file,
                                     const std::optional<std::string>& shipped_gpu);

/// Returns what fatune ships for `device`. Throws Error(usage) if that is nothing, and offers the
/// results of the nearest GPU.
[[nodiscard]] InputRuns shipped_results(const FileTree& tree, const DeviceLimits& device);

/// Returns what fatune ships for the GPU that `name` names, as find_device() finds it. Nothing:
/// there is none. `where`: where the name is from, for errors.
[[nodiscard]] std::optional<InputRuns> shipped_results(const FileTree& tree,
                                                       const std::string& name,
                                                       const std::string& where);

/// Reads how other implementations of attention did beside the winners that fatune ships for this
/// GPU model (configs/peers). Nothing if it ships no such file.
[[nodiscard]] std::optional<PeerStudy> known_peers(const DeviceLimits& device);

/// Loads the finished table of the named files, then of the named stored runs. If nothing is named,
/// loads all tuned problems that fatune ships. Throws Error(bad_file) as load_json_from_disk(), and
/// if no problem can be used. Throws Error(usage) if there is no such run.
[[nodiscard]] TunedTable load_tuned(const TunedOptions& options, const FamilySet& families);

/// Suggests to each problem's search what is predicted to be fast, or what was on the nearest tuned
/// problems: those that fatune ships and, unless the store is off, those of its latest runs. Throws
/// Error(bad_file) and Error(io) as stored_runs().
void suggest_tuned(const FamilySet& families, const StoreOptions& store, const DeviceLimits& limits,
                   std::vector<ProblemPlan>& problems);

/// Returns the table with the leave-one-out regrets of the rows that are wanted, by the families'
/// own rules.
[[nodiscard]] ExportReport judge_tuned(TunedTable table, const FamilySet& families,
                                       const RowFilter& wanted = any_row);

}  // namespace fatune
