#include "emit/pruned_text.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace fatune {
namespace {

struct RuleDrops {
  std::string rule;
  std::string first;  ///< short form of the first configuration that it dropped
  std::string reason;
  std::size_t count = 0;
};

std::vector<RuleDrops> drops_by_rule(const ProblemReport& problem) {
  std::vector<RuleDrops> drops;
  for (const Result& result : problem.failures) {
    const auto* pruned = std::get_if<Pruned>(&result.outcome);
    if (pruned == nullptr) {
      continue;
    }
    auto found = std::ranges::find(drops, pruned->rule, &RuleDrops::rule);
    if (found == drops.end()) {
      found = drops.insert(drops.end(), {pruned->rule, result.short_form, pruned->reason, 0});
    }
    ++found->count;
  }
  return drops;
}

}  // namespace

std::string pruned_text(const ProblemReport& problem) {
  std::string text;
  for (const RuleDrops& drops : drops_by_rule(problem)) {
    text += fmt::format("rule {} drops {} on this problem, the first of them {}: {}\n", drops.rule,
                        drops.count, drops.first, drops.reason);
  }
  return text;
}

}  // namespace fatune
