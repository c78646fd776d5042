#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "engine/problem_plan.hpp"
#include "plan/family.hpp"
#include "report/report.hpp"

// The configuration that percentages refer to, when the user names one.
namespace fatune {

/// Parses the baseline. Returns nothing without a text. Throws Error(usage) if the text does not
/// parse, or if the configuration is planned for no problem.
[[nodiscard]] std::optional<Config> planned_baseline(const FamilySet& families,
                                                     const std::vector<ProblemPlan>& problems,
                                                     const std::optional<std::string>& text);

[[noreturn]] void fail_unplanned_baseline(const Family& family, const Config& baseline,
                                          const std::string& remedy);

/// Returns a note for each problem whose ranking lacks the baseline: the reason, and what
/// percentages refer to instead.
[[nodiscard]] std::vector<std::string> baseline_notes(const RunReport& report,
                                                      const std::optional<Config>& baseline);

}  // namespace fatune
