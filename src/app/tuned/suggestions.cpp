#include "app/tuned/suggestions.hpp"

#include <algorithm>
#include <cstddef>

#include "app/tuned/load_tuned.hpp"
#include "core/ranges.hpp"
#include "tuned/tuned_choice.hpp"

namespace fatune {
namespace {

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

void suggest_tuned(const FamilySet& families, const StoreOptions& store, const DeviceLimits& limits,
                   std::vector<ProblemPlan>& problems) {
  const TunedTable table = load_known(store, families);
  for (ProblemPlan& plan : problems) {
    plan.suggested = suggestions(table, plan.problem, limits);
  }
}

}  // namespace fatune
