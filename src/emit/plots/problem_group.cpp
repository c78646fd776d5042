#include "emit/plots/problem_group.hpp"

#include <algorithm>
#include <set>

#include "core/text_parts.hpp"

namespace fatune {

std::string group_name(const Problem& problem) {
  const std::string text = describe(problem);
  std::string_view rest = text;
  take_until(rest, ' ');
  take_until(rest, ' ');
  return std::string(rest);
}

std::string group_name_without_mask(const Problem& problem) {
  Problem full = problem;
  full.causal = false;
  return group_name(full);
}

std::vector<std::int64_t> lengths_of(const std::vector<RunReport>& runs) {
  std::set<std::int64_t> lengths;
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      lengths.insert(problem.problem.seq_len);
    }
  }
  return {lengths.begin(), lengths.end()};
}

std::vector<std::string> groups_of(const std::vector<RunReport>& runs,
                                   std::string (*name_of)(const Problem&)) {
  std::vector<std::string> groups;
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      if (std::string name = name_of(problem.problem);
          std::ranges::find(groups, name) == groups.end()) {
        groups.push_back(std::move(name));
      }
    }
  }
  return groups;
}

const ProblemReport* find_ranked(const RunReport& run, const Problem& problem) {
  const auto found = std::ranges::find_if(run.problems, [&](const ProblemReport& report) {
    return report.problem == problem && !report.ranking.empty() && !is_cover_race(report);
  });
  return found == run.problems.end() ? nullptr : &*found;
}

}  // namespace fatune
