#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/candidate_id.hpp"
#include "core/device_limits.hpp"
#include "core/part_tail.hpp"
#include "core/sm_rates.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/problem_plan.hpp"
#include "plan/family_set.hpp"
#include "report/report.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// One problem with the candidates that its search has proposed so far.
class ProblemWork {
 public:
  /// `parts`: MeasurePolicy::parts. All must outlive it.
  ProblemWork(const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
              const ProblemPlan& plan, const CandidateSearch& search, bool parts = false);

  /// Asks the search for up to `most` more. The candidates among them, which are to be compiled;
  /// the others join the obstacles.
  [[nodiscard]] std::vector<CandidateId> ask(std::size_t most);
  /// The same of those with these short forms that the search has not proposed: an interrupted run
  /// had tried them.
  [[nodiscard]] std::vector<CandidateId> ask_again(const std::set<std::string>& short_forms);

  /// Suggests configurations that were fast on other problems of the run to the search, as they are
  /// on this problem's dtype and head dimension.
  void suggest(const std::vector<Config>& configs);

  [[nodiscard]] const ProblemPlan& plan() const noexcept { return plan_; }
  /// The part of the problem that early rounds are on, if they are.
  [[nodiscard]] const std::optional<Problem>& part() const noexcept { return part_; }
  /// On that part, of a kernel of which nothing is known.
  [[nodiscard]] const PartTail& part_tail() const noexcept { return part_tail_; }
  [[nodiscard]] CandidateSource& source() noexcept { return *source_; }
  [[nodiscard]] Candidate& at(CandidateId id) { return candidates_.at(id.index); }
  [[nodiscard]] const std::vector<Candidate>& candidates() const noexcept { return candidates_; }
  /// The results of the plan's configurations that rules drop on this problem.
  [[nodiscard]] std::vector<Result> pruned() const;
  [[nodiscard]] const std::vector<Result>& obstacles() const noexcept { return obstacles_; }
  /// Those that were not taken before.
  [[nodiscard]] std::vector<Result> take_obstacles() { return std::exchange(obstacles_, {}); }
  [[nodiscard]] CompileRequest request(CandidateId id) const {
    return maker_->request(candidates_.at(id.index));
  }
  /// Makes the launches of a candidate those of its artifact.
  void finish_launch(CandidateId id) { maker_->finish_launch(at(id)); }

 private:
  [[nodiscard]] std::vector<CandidateId> take(const std::vector<Proposal>& proposals);

  const FamilySet& families_;
  const ProblemPlan& plan_;
  std::optional<Problem> part_;
  PartTail part_tail_{};
  std::unique_ptr<CandidateMaker> maker_;  ///< the source refers to it
  std::unique_ptr<CandidateSource> source_;
  std::vector<Candidate> candidates_;  ///< as proposed: likely winners first
  std::vector<Result> obstacles_;      ///< nothing is compiled for them: the outcome is known
};

}  // namespace fatune
