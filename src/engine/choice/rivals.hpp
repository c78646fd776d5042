#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "choose/cover.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"
#include "plan/problem_plan.hpp"
#include "store/study_inputs.hpp"

namespace fatune {

/// The rivals of a run's winners: a file's winners, configurations built from other sources, or a
/// file's winners built from other sources.
struct Rivals {
  std::string name;               ///< as the user named them
  FamilySet families;             ///< the run's own, then those with other sources
  std::optional<RunReport> best;  ///< absent: the rival is the fastest with the other sources
  std::string version;            ///< Family::version of the other sources; empty: there are none
  double tolerance_percent = kTolerancePercent;
  /// Judge the file's winners, whose rivals are the run's. Every problem of the run is then in the
  /// file.
  bool judges_file = false;

  /// Returns a configuration of an earlier run, or of this one, built from the rivals' sources: the
  /// other sources if there are any. Throws Error(usage) if they do not have it.
  [[nodiscard]] Config config_of(const std::string& family, const std::string& short_form) const;
  /// Returns the run's configuration, built from the rivals' sources. Nothing: they do not have it.
  [[nodiscard]] std::optional<Config> twin_of(const Config& config) const;
};

/// Loads the run that the user names, as load_runs() and run_of() do. Throws Error(bad_file) if it
/// has no winner.
[[nodiscard]] RunReport load_winners(InputRuns input, const std::string& device);

/// The first winner of the problem in a run of load_winners(). Null: there is none.
[[nodiscard]] const Result* find_winner(const RunReport& run, const Problem& problem);

/// Loads the rivals. Returns nothing if the options name none. Throws Error(usage) for a tolerance
/// without rivals, for a source that is neither a folder nor a revision of the kernels' repository,
/// and for a source that has none of the run's families. Throws Error(bad_file) as load_winners()
/// and load_family().
[[nodiscard]] std::optional<Rivals> choose_rivals(const AgainstOptions& options,
                                                  const KernelSet& kernels,
                                                  const MeasureOptions& run);

/// Measures plans. Returns a report for each, in their order, or fewer if it was interrupted.
using MeasurePlans =
    std::function<std::vector<ProblemReport>(const std::vector<ProblemPlan>& plans)>;

/// Whether the problem's race ended by itself.
[[nodiscard]] bool is_finished(const ProblemReport& report);

/// Compares each problem's winner with its rival after the run, or the file's winners with the
/// run's (Rivals::judges_file). If the rival is the fastest with other sources, first races all of
/// the problem's configurations with these. Then only the two race, and take turns for a fixed
/// number of rounds. `plans` and `run` belong together. `complete`: the user has not interrupted
/// the run. Problems that it had not finished are undecided. Repetitions and races for a cover are
/// left out.
[[nodiscard]] GateReport race_rivals(const Rivals& rivals, const std::vector<ProblemPlan>& plans,
                                     const RunReport& run, bool complete,
                                     const MeasurePlans& measure_plans);

/// Plans the races that a cover lacks after a run. A problem gets one if rules dropped
/// configurations on it that win another problem. These race, as audited ones, against the
/// problem's winner. `reports`: those of the plans, in the same order.
[[nodiscard]] std::vector<ProblemPlan> plan_cover_races(const std::vector<ProblemPlan>& plans,
                                                        const std::vector<ProblemReport>& reports);

/// Finds the cover of what a run has measured.
[[nodiscard]] Cover find_cover(const RunReport& run, const FamilySet& families, double percent);

}  // namespace fatune
