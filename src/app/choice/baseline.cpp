#include "app/choice/baseline.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/ranges.hpp"
#include "plan/config_text.hpp"

namespace fatune {
namespace {

bool is_planned(const Config& config, const std::vector<ProblemPlan>& problems) {
  return std::ranges::any_of(
      problems, [&](const ProblemPlan& problem) { return is_among(config, problem.configs); });
}

std::string why_without_time(const Config& baseline, const ProblemReport& problem) {
  const Result* const failed = find_result(problem.failures, baseline);
  return failed == nullptr ? "has no time here"
                           : fmt::format("has no time ({}: {})", outcome_name(failed->outcome),
                                         outcome_summary(failed->outcome));
}

}  // namespace

std::optional<Config> planned_baseline(const FamilySet& families,
                                       const std::vector<ProblemPlan>& problems,
                                       const std::optional<std::string>& text) {
  if (!text) {
    return std::nullopt;
  }
  Config baseline = parse_config(families, *text);
  if (!is_planned(baseline, problems)) {
    fail_unplanned_baseline(families.of(baseline), baseline,
                            "name it with --config too, or choose a space that keeps it: 'fatune "
                            "list --pruned' with the same options says which configurations are "
                            "kept, and why others are not");
  }
  return baseline;
}

void fail_unplanned_baseline(const Family& family, const Config& baseline,
                             const std::string& remedy) {
  throw Error(
      ExitCode::usage,
      fmt::format("'{}' is not among the planned configurations", short_form(family, baseline)),
      "--baseline", remedy);
}

std::vector<std::string> baseline_notes(const RunReport& report,
                                        const std::optional<Config>& baseline) {
  std::vector<std::string> notes;
  for (const ProblemReport& problem : report.problems) {
    if (baseline && !problem.ranking.empty() &&
        find_result(problem.ranking, *baseline) == nullptr) {
      notes.push_back(fmt::format("{}: the baseline {}; percentages refer to the best, {}",
                                  describe(problem.problem), why_without_time(*baseline, problem),
                                  problem.ranking.front().short_form));
    }
  }
  notes.erase(std::unique(notes.begin(), notes.end()), notes.end());  // runs repeat their notes
  return notes;
}

}  // namespace fatune
