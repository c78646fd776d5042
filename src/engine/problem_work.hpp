#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/task_pool.hpp"
#include "engine/candidate_maker.hpp"
#include "gpu/compiler.hpp"
#include "model/candidate_list.hpp"
#include "model/device_limits.hpp"
#include "model/part_tail.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"
#include "plan/problem_plan.hpp"
#include "race/candidate_source.hpp"

namespace fatune {

/// The candidate that a compile request is for.
struct CandidateKey {
  std::size_t problem = 0;
  CandidateId candidate{};
};

/// A candidate whose compilation has ended.
struct CompiledCandidate {
  CandidateId id{};
  std::shared_ptr<const CompileResult> result;
};

/// Compiles for all problems on several threads, and sorts finished candidates by problem. Requests
/// with the same artifact_key are compiled once. An exception of the compiler becomes
/// CompileFailed. All functions may be called from any thread.
class CompileFeed {
 public:
  /// `order`: the numbers of all problems, counted from 0. Requests for the first one are compiled
  /// before requests for the second one, and so on.
  CompileFeed(const std::vector<std::size_t>& order, CompileFunction compile_one, int jobs);
  CompileFeed(const CompileFeed&) = delete;
  CompileFeed& operator=(const CompileFeed&) = delete;
  ~CompileFeed();  ///< cancels, then waits for the compilations under way

  /// Requests the machine code of a candidate. take() returns it. Returns whether it is the first
  /// request for this code.
  bool add(const CandidateKey& owner, CompileRequest request);
  /// Returns the next candidate of the problem that is ready. Waits at most for `within`. Empty:
  /// there is none.
  [[nodiscard]] std::optional<CompiledCandidate> take(std::size_t problem,
                                                      std::chrono::milliseconds within);
  /// Keeps further compilations from starting.
  void cancel();
  /// The number of compilations that can run at a time.
  [[nodiscard]] std::size_t jobs() const noexcept { return jobs_; }
  /// Seconds from the start to the last compilation so far.
  [[nodiscard]] double compiling_s() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// One compilation, shared by all its owners.
  struct Job {
    CompileRequest request;
    std::vector<CandidateKey> owners;  ///< candidates that wait for the result
    bool begun = false;
    std::shared_ptr<const CompileResult> result;  ///< null before it is compiled
  };

  void work(Job& job);
  void hand_over(Job& job);

  const CompileFunction compile_one_;
  const std::size_t jobs_;
  const Clock::time_point start_ = Clock::now();
  std::vector<std::size_t> rank_;  ///< each problem's place in the order
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::string, Job> by_key_;
  std::vector<std::deque<CompiledCandidate>> ready_;  ///< indexed by problem
  Clock::time_point last_arrival_ = start_;
  std::atomic<bool> cancelled_ = false;
  TaskPool pool_;  ///< must be last: its tasks use the other members
};

/// Whether the machine code for a request is known without compiling.
using HasCode = std::function<bool(const CompileRequest&)>;

/// The configurations of a plan that a search may try: the planned ones, then the audited ones. The
/// audited ones and the one whose time is needed are required. `maker` must outlive the space.
[[nodiscard]] SearchSpace make_search_space(const ProblemPlan& plan, CandidateMaker& maker,
                                            const HasCode& has_code = {});

/// One problem with the candidates that its search has proposed so far.
class ProblemWork {
 public:
  /// `parts`: MeasurePolicy::parts. `has_code` may be empty. All references must outlive this.
  ProblemWork(const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
              const ProblemPlan& plan, const CandidateSearch& search, bool parts = false,
              const HasCode& has_code = {});

  /// Asks the search for up to `most` more configurations. Returns the candidates among them, which
  /// are to be compiled; the others become obstacles.
  [[nodiscard]] std::vector<CandidateId> ask(std::size_t most);
  /// Does the same for the configurations with these short forms that the search has not proposed.
  /// An interrupted run had tried them.
  [[nodiscard]] std::vector<CandidateId> ask_again(const std::set<std::string>& short_forms);

  /// Suggests to the search configurations that were fast on other problems of the run, adapted to
  /// this problem's dtype and head dimension.
  void suggest(const std::vector<Config>& configs);

  [[nodiscard]] const ProblemPlan& plan() const noexcept { return plan_; }
  /// The part of the problem that early rounds are on. Empty: there is none.
  [[nodiscard]] const std::optional<Problem>& part() const noexcept { return part_; }
  /// The tail on that part, for a kernel about which nothing is known.
  [[nodiscard]] const PartTail& part_tail() const noexcept { return part_tail_; }
  [[nodiscard]] CandidateSource& source() noexcept { return *source_; }
  [[nodiscard]] Candidate& at(CandidateId id) { return candidates_.at(id.index); }
  [[nodiscard]] const std::vector<Candidate>& candidates() const noexcept { return candidates_; }
  /// The results of the plan's configurations that rules drop on this problem.
  [[nodiscard]] std::vector<Result> pruned() const;
  [[nodiscard]] const std::vector<Result>& obstacles() const noexcept { return obstacles_; }
  /// Returns the obstacles that were not taken before.
  [[nodiscard]] std::vector<Result> take_obstacles() { return std::exchange(obstacles_, {}); }
  [[nodiscard]] CompileRequest request(CandidateId id) const {
    return maker_->request(candidates_.at(id.index).result.config);
  }
  /// Recomputes the launches of a candidate with the facts of its artifact.
  void finish_launch(CandidateId id) { maker_->finish_launch(at(id)); }

 private:
  [[nodiscard]] std::vector<CandidateId> take(const std::vector<Proposal>& proposals);

  const FamilySet& families_;
  const ProblemPlan& plan_;
  std::optional<Problem> part_;
  PartTail part_tail_{};
  std::unique_ptr<CandidateMaker> maker_;  ///< the source refers to it
  std::unique_ptr<CandidateSource> source_;
  std::vector<Candidate> candidates_;  ///< ordered as proposed: likely winners first
  std::vector<Result> obstacles_;      ///< nothing is compiled for them: the outcome is known
};

}  // namespace fatune
