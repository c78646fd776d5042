#include "engine/problem_work.hpp"

#include <utility>
#include <variant>

#include "core/mapped.hpp"

namespace fatune {

ProblemWork::ProblemWork(const FamilySet& families, const DeviceLimits& limits,
                         const SmRates& rates, const ProblemPlan& plan,
                         const CandidateSearch& search)
    : plan_(plan),
      maker_(std::make_unique<CandidateMaker>(families, limits, rates, plan.problem)),
      source_(search.begin(
          plan, [maker = maker_.get()](const Config& config) { return maker->guess_us(config); })) {
}

std::vector<CandidateId> ProblemWork::ask(std::size_t most) {
  std::vector<CandidateId> asked;
  for (const Proposal& proposal : source_->propose(most)) {
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
