#pragma once

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "engine/evaluator.hpp"
#include "engine/problem_work.hpp"
#include "engine/run_log.hpp"
#include "gpu/compiler.hpp"
#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/report.hpp"
#include "plan/family.hpp"
#include "plan/problem_plan.hpp"
#include "race/candidate_source.hpp"

namespace fatune {

/// A thread that owns one evaluator. A worker process dies with the thread that started it, so an
/// evaluator is used only on this thread.
class DeviceThread {
 public:
  using Make = std::function<std::unique_ptr<Evaluator>()>;
  using Job = std::function<void(Evaluator&)>;

  /// Makes the evaluator on the new thread.
  explicit DeviceThread(Make make) : thread_([this, make = std::move(make)] { run(make); }) {}
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;
  /// Waits for the job, if there is one, and destroys the evaluator.
  ~DeviceThread();

  /// Waits until the evaluator is made. It lives as long as this. Throws what `make` threw.
  [[nodiscard]] const Evaluator& wait_ready() { return *ready_future_.get(); }
  /// Starts a job. Precondition: wait_ready() has returned, and so has finish() of any earlier job.
  void start(Job job);
  /// Waits for the end of the job. Throws what the job threw.
  void finish() { done_.get(); }

 private:
  void run(const Make& make);

  std::promise<const Evaluator*> ready_;
  std::future<const Evaluator*> ready_future_ = ready_.get_future();
  std::packaged_task<void(Evaluator&)> job_;  ///< not valid on wake-up: there are no more jobs
  std::binary_semaphore wake_{0};
  std::future<void> done_;
  std::jthread thread_;
};

/// The order in which problems are begun, as their numbers. On one GPU it is the planned order. On
/// several GPUs the longest come first, so that all GPUs finish at about the same time.
[[nodiscard]] std::vector<std::size_t> work_order(const std::vector<ProblemPlan>& plans,
                                                  std::size_t gpus);

/// Hands out problems to GPUs. Each problem is handed out once, so that its ranking is never split.
class ProblemQueue {
 public:
  explicit ProblemQueue(const std::vector<std::size_t>& order)
      : free_(order.begin(), order.end()) {}

  /// Reserves the problem for one GPU (seat). To be called before the first take().
  void reserve(std::size_t problem, std::size_t seat);
  /// Takes the next problem that is reserved for the seat, else the next that is not reserved.
  /// Empty: there is none. May be called from any thread.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t seat);
  /// The sum of the weights of the problems not yet taken.
  [[nodiscard]] double left(const std::vector<ProblemPlan>& plans) const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::size_t> free_;
  std::map<std::size_t, std::deque<std::size_t>> reserved_;  ///< keyed by seat
};

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

  [[nodiscard]] std::unique_ptr<ProblemWork> prepare(std::size_t problem);
  void prepare_all(const std::stop_token& stop);
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
