#include "emit/failure_groups.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace fatune {
namespace {

/// The text with '#' in place of each number.
std::string without_numbers(const std::string& text) {
  std::string masked;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool is_point = c == '.' && masked.ends_with('#');
    if (!is_digit && !is_point) {
      masked += c;
    } else if (!masked.ends_with('#')) {
      masked += '#';
    }
  }
  return masked;
}

FailureGroup failure_of(const Problem& problem, const Result& result) {
  FailureGroup failure{outcome_kind(result.outcome), outcome_summary(result.outcome),
                       outcome_summary(result.outcome), result.short_form, describe(problem)};
  if (const auto* const pruned = std::get_if<Pruned>(&result.outcome)) {
    failure.reason = pruned->rule;
  } else if (const auto* const invalid = std::get_if<Invalid>(&result.outcome)) {
    failure.reason = invalid->rule;
  }
  return failure;
}

bool is_dropped(const FailureGroup& group) { return group.outcome == OutcomeKind::pruned; }

}  // namespace

std::vector<FailureGroup> grouped(const std::vector<FailureGroup>& failures) {
  std::map<std::pair<OutcomeKind, std::string>, std::size_t> place_of;
  std::vector<FailureGroup> groups;
  for (const FailureGroup& failure : failures) {
    const auto [found, is_new] =
        place_of.try_emplace({failure.outcome, without_numbers(failure.reason)}, groups.size());
    if (is_new) {
      groups.push_back(failure);
    } else {
      groups[found->second].count += failure.count;
    }
  }
  std::ranges::stable_sort(groups, [](const FailureGroup& a, const FailureGroup& b) {
    return is_dropped(a) != is_dropped(b) ? is_dropped(b) : a.count > b.count;
  });
  return groups;
}

std::vector<FailureGroup> failure_groups(const RunReport& run) {
  std::vector<FailureGroup> failures;
  for (const ProblemReport& problem : run.problems) {
    for (const Result& result : problem.failures) {
      failures.push_back(failure_of(problem.problem, result));
    }
  }
  return grouped(failures);
}

Fields<FailureGroup> failure_group_fields() {
  using G = FailureGroup;
  return {
      {"count", "count", &G::count},
      {"outcome", "outcome", [](const G& g) { return outcome_name(g.outcome); }},
      {"detail", "why", kWraps, &G::why},
      {"config", "for example", kWraps, &G::config},
      {"problem", "on", or_none<&G::problem>},
  };
}

}  // namespace fatune
