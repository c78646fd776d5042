#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/device_limits.hpp"
#include "core/matmul_rate.hpp"
#include "measure/deadlines.hpp"
#include "measure/debug_messages.hpp"
#include "measure/measurer.hpp"
#include "measure/worker_messages.hpp"
#include "measure/worker_process.hpp"
#include "measure/worker_settings.hpp"

namespace fatune {

/// Measures in a worker process, so that whatever a kernel does costs one worker and nothing else.
///
/// A worker that dies, hangs beyond its deadline or sends garbage is replaced; the problem begins
/// anew in the next one and admitted candidates are admitted again when they are next needed, so
/// that callers see an Outcome and nothing more. Candidates are not blamed for what others did: a
/// crash in a worker that others have used counts only when the suspect, alone in a fresh worker,
/// crashes again, or has crashed its third worker; a worker in which a kernel has written where it
/// must not is replaced before the next candidate; and a worker that was killed from outside
/// (SIGKILL, SIGTERM: an operator, or the system when memory runs out) is no candidate's fault, up
/// to five times in a row.
class RemoteMeasurer : public Measurer {
 public:
  /// Starts a worker. Throws Error(gpu_failure) when none can be started, or the Error with which
  /// it refuses the device. Use it on the constructing thread: workers die with it.
  RemoteMeasurer(WorkerSettings settings, MeasurePolicy policy);
  ~RemoteMeasurer() override;
  RemoteMeasurer(const RemoteMeasurer&) = delete;
  RemoteMeasurer& operator=(const RemoteMeasurer&) = delete;
  RemoteMeasurer(RemoteMeasurer&&) = delete;
  RemoteMeasurer& operator=(RemoteMeasurer&&) = delete;

  /// The device's, with the memory that was free in the first worker that said so.
  [[nodiscard]] const DeviceLimits& limits() const { return limits_.value(); }
  /// Workers that were started so far.
  [[nodiscard]] int workers_started() const noexcept { return workers_started_; }
  /// Seconds spent waiting for a worker to prepare problems, to verify and to take samples.
  [[nodiscard]] double busy_s() const noexcept { return busy_s_; }
  /// Seconds spent starting workers, replacements included.
  [[nodiscard]] double start_s() const noexcept { return start_s_; }

  void begin_problem(const Problem& problem, const Artifact& kernels) override;
  [[nodiscard]] Admission admit(CandidateId id, const CandidateKernel& candidate) override;
  [[nodiscard]] Samples sample_in_round(CandidateId id, int count, int round) override;
  [[nodiscard]] std::optional<Outcome> recheck(CandidateId id) override;
  [[nodiscard]] Counted count(CandidateId id, const CountRequest& request) override;
  void retire(CandidateId id) override;
  [[nodiscard]] bool context_lost() const noexcept override { return false; }

  /// How fast the device multiplies dense matrices (matmul_rate.hpp), at any time between other
  /// steps. Throws Error(gpu_failure); the worker is then replaced.
  [[nodiscard]] MatmulRate matmul_rate(const Artifact& kernel);

  /// Launches a kernel once, on the request's inputs, and says what it has written. Needs no
  /// begin_problem(); not to be called after it.
  [[nodiscard]] DebugResult run_for_debug(const DebugRequest& request);

 private:
  struct Held {
    CandidateKernel candidate;
    int worker = 0;  // the number of the worker in which it is admitted
  };
  struct Death {
    Outcome outcome;  // Crashed or TimedOut
  };
  using Reply = std::variant<Message, Death>;
  using Step = std::function<std::optional<Outcome>()>;  // gives its failure
  enum class Blame { candidate, perhaps_others, nobody };

  void ensure_worker();
  void start_worker();
  void start_problem();
  [[nodiscard]] Reply ask(const Message& request, std::chrono::milliseconds within);
  [[nodiscard]] Reply await(std::chrono::milliseconds within);
  [[nodiscard]] Death died(const std::string& how, std::chrono::milliseconds grace);
  [[nodiscard]] Death hung(std::chrono::milliseconds within);
  [[nodiscard]] Outcome failure_of(const Message& rejected);
  [[nodiscard]] Outcome unexpected(const Message& message);
  [[nodiscard]] Outcome nonsense(const std::string& what);
  [[nodiscard]] Admission admission_of(CandidateId id, const CandidateKernel& candidate,
                                       Reply reply);
  void note(bool alone, const std::optional<Outcome>& failure);
  void add(const OneSample& one, bool counts, Samples& samples);
  [[nodiscard]] std::optional<Outcome> judged(CandidateId id, const std::string& label,
                                              const Step& step);
  void drop_worker();
  /// `grace`, or longer for a launcher, which writes its report at its end.
  [[nodiscard]] std::chrono::milliseconds patience(std::chrono::milliseconds grace) const;
  /// Tells the worker to end, and waits. Precondition: there is one.
  void finish_worker();
  [[nodiscard]] std::string label_of(CandidateId id) const;
  void forget(CandidateId id);

  [[nodiscard]] Admission admit_once(CandidateId id, const CandidateKernel& candidate);
  void sample_once(CandidateId id, const SampleRequest& request, Samples& samples);
  [[nodiscard]] std::optional<Outcome> take_samples(CandidateId id, int discarded,
                                                    const SampleRequest& request, Samples& samples);
  [[nodiscard]] std::optional<Outcome> recheck_once(CandidateId id);
  [[nodiscard]] Counted count_once(CandidateId id, const CountRequest& request);
  [[nodiscard]] Counted counted_of(Reply reply);
  [[nodiscard]] std::optional<Outcome> readmit_if_gone(CandidateId id);
  [[nodiscard]] std::optional<Outcome> readmit(CandidateId id);

  WorkerSettings settings_;
  Deadlines deadlines_;
  std::optional<DeviceLimits> limits_;
  std::unique_ptr<WorkerProcess> worker_;
  int workers_started_ = 0;
  double busy_s_ = 0.0;
  double start_s_ = 0.0;
  int admissions_here_ = 0;             // in the present worker
  bool killed_ = false;                 // the last worker that died was killed by others
  Blame blame_ = Blame::candidate;      // for the last failure
  std::map<CandidateId, int> crashes_;  // of workers that others had used
  std::optional<ProblemStart> problem_;
  std::map<CandidateId, Held> held_;
};

}  // namespace fatune
