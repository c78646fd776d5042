#include "engine/problem_work.hpp"

#include <cstddef>
#include <utility>
#include <variant>

#include "core/ranges.hpp"
#include "measure/part_of_problem.hpp"
#include "plan/family.hpp"
#include "plan/parameter.hpp"
#include "race/race_policy.hpp"

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

namespace {

/// Whether early rounds on a part are worthwhile. They decide which candidates meet on the whole
/// problem, so they are of no use if all may.
bool is_worth_a_part(const ProblemPlan& plan, const CandidateSearch& search) {
  const std::size_t most = search.most_tried(plan.configs.size()) + plan.audited.size();
  return !plan.repeats && most > static_cast<std::size_t>(RacePolicy{}.most_finalists);
}

}  // namespace

ProblemWork::ProblemWork(const FamilySet& families, const DeviceLimits& limits,
                         const SmRates& rates, const ProblemPlan& plan,
                         const CandidateSearch& search, bool parts, const HasCode& has_code)
    : families_(families),
      plan_(plan),
      part_(parts && is_worth_a_part(plan, search) ? part_of(plan.problem, limits) : std::nullopt),
      part_tail_(part_ ? fatune::part_tail(*part_, plan.problem, limits) : PartTail{}),
      maker_(std::make_unique<CandidateMaker>(families, limits, rates, plan.problem, part_)),
      source_(search.begin(search_space(has_code))) {}

SearchSpace ProblemWork::search_space(const HasCode& has_code) const {
  SearchSpace space = make_search_space(plan_, *maker_);
  if (has_code) {
    space.has_code = [maker = maker_.get(), has_code](const Config& config) {
      return has_code(maker->request(config));
    };
  }
  return space;
}

std::vector<CandidateId> ProblemWork::ask(std::size_t most) { return take(source_->propose(most)); }

void ProblemWork::suggest(const std::vector<Config>& configs) {
  std::vector<Suggestion> suggested;
  for (Config config : configs) {
    const std::vector<Parameter>& parameters = families_.of(config).parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].binds) {
        config.values.at(i) = property_value(plan_.problem, *parameters[i].binds);
      }
    }
    suggested.push_back({std::move(config), "other problem"});
  }
  source_->suggest(suggested);
}

std::vector<CandidateId> ProblemWork::ask_again(const std::set<std::string>& short_forms) {
  std::vector<Config> configs;
  for (const Config& config : plan_.configs) {
    if (short_forms.contains(maker_->short_form_of(config))) {
      configs.push_back(config);
    }
  }
  return take(source_->propose_again(configs));
}

std::vector<CandidateId> ProblemWork::take(const std::vector<Proposal>& proposals) {
  std::vector<CandidateId> asked;
  for (const Proposal& proposal : proposals) {
    auto made = maker_->make(proposal);
    if (auto* candidate = std::get_if<Candidate>(&made)) {
      asked.push_back({candidates_.size()});
      candidates_.push_back(std::move(*candidate));
    } else {
      Result& result = obstacles_.emplace_back(std::get<Result>(std::move(made)));
      source_->observe(proposal.config, result.outcome);
    }
  }
  return asked;
}

std::vector<Result> ProblemWork::pruned() const {
  return mapped(plan_.pruned_here,
                [this](const PrunedConfig& pruned) { return maker_->make_pruned(pruned); });
}

}  // namespace fatune
