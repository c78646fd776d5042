#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "compile/compile_each.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "engine/compile_feed.hpp"
#include "engine/device_thread.hpp"
#include "engine/problem_plan.hpp"
#include "engine/problem_queue.hpp"
#include "engine/problem_work.hpp"
#include "engine/run_log.hpp"
#include "engine/run_observer.hpp"
#include "plan/family_set.hpp"
#include "report/report.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// The parts that a pipeline works with; all of them must outlive the pipeline.
struct PipelineParts {
  const FamilySet& families;
  const DeviceLimits& limits;  ///< limits of all GPUs, which are of one model
  SmRates rates;
  const CandidateSearch& search;
  CompileFunction compile_one;
  HasCode has_code;  ///< tells what `compile_one` has compiled; may be empty
  int jobs = 1;
  RunObserver& observer;
  std::optional<Config> baseline;
  double budget_s = 0.0;  ///< limit for the whole run; 0: no limit
  bool parts = false;     ///< MeasurePolicy::parts
};

/// One GPU with its log.
struct Seat {
  DeviceThread& device;
  RunLog& log;
};

/// Turns plans into artifacts, artifacts into outcomes, and outcomes into rankings. Preparing all
/// problems, and compiling for them, begins in the constructor and ends with the destructor.
class Pipeline {
 public:
  /// `order`: the order in which problems are compiled for and begun. `plans` must outlive the
  /// pipeline.
  Pipeline(PipelineParts parts, const std::vector<ProblemPlan>& plans,
           const std::vector<std::size_t>& order);

  /// Works through the problems, with all seats at the same time. A problem that an interrupted run
  /// had begun on a GPU continues on that GPU. `on_problem` gets each problem's number and report
  /// as soon as it is ranked, one at a time. If the run is interrupted, it also gets the unfinished
  /// ones. Returns false if the run was interrupted. An Error of one seat is thrown once the others
  /// have done their work.
  [[nodiscard]] bool run(std::vector<Seat>& seats,
                         const std::function<void(std::size_t, ProblemReport)>& on_problem);

  [[nodiscard]] double compiling_s() const { return feed_.compiling_s(); }

 private:
  /// A problem's work, once it is prepared: its first proposals are being compiled.
  struct Preparation {
    std::promise<std::unique_ptr<ProblemWork>> promise;
    std::shared_future<std::unique_ptr<ProblemWork>> work = promise.get_future();
  };

  [[nodiscard]] std::size_t first_request_of(std::size_t problem, ProblemWork& work) const;
  [[nodiscard]] std::unique_ptr<ProblemWork> prepare(std::size_t problem);
  void prepare_all(const std::stop_token& stop);
  [[nodiscard]] ProblemWork& work_of(std::size_t problem);
  void remember_winners(const ProblemReport& report);
  void reserve_begun(const std::vector<Seat>& seats, ProblemQueue& queue) const;

  PipelineParts parts_;
  const std::vector<ProblemPlan>& plans_;
  std::vector<std::size_t> order_;
  std::vector<Preparation> preparations_;  ///< indexed by problem
  std::vector<Config> winners_;            ///< winners so far, those of the last problem first
  CompileFeed feed_;
  std::jthread preparing_;  ///< the last member: it ends before what it uses
};

}  // namespace fatune
