#include "report/report.hpp"

#include <algorithm>
#include <variant>

namespace fatune {

double busy_percent(const RunReport& report) {
  const double available_s = report.wall_s * report.gpus;
  return available_s > 0.0 ? 100.0 * report.busy_s / available_s : 0.0;
}

const Entry* find_entry(const std::vector<Entry>& entries, const Config& config) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.config == config; });
  return found == entries.end() ? nullptr : &*found;
}

std::size_t count_failed(const ProblemReport& report) {
  return static_cast<std::size_t>(std::count_if(
      report.failures.begin(), report.failures.end(),
      [](const Entry& entry) { return !std::holds_alternative<Pruned>(entry.outcome); }));
}

std::size_t count_candidates(const ProblemReport& report) {
  return report.ranking.size() + count_failed(report);
}

}  // namespace fatune
