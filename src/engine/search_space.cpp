#include "engine/search_space.hpp"

namespace fatune {

SearchSpace make_search_space(const ProblemPlan& plan, CandidateMaker& maker) {
  SearchSpace space;
  for (const Config& config : plan.configs) {
    space.points.push_back({config, {}, config == plan.kept_in_race, maker.guess_us(config)});
  }
  for (const AuditedConfig& audited : plan.audited) {
    space.points.push_back({audited.config, audited.rule, true, maker.guess_us(audited.config)});
  }
  for (const Config& config : plan.suggested) {
    space.suggested.push_back({config, "tuned neighbour"});
  }
  return space;
}

}  // namespace fatune
