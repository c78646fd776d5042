#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "measure/measurer.hpp"
#include "measure/remote_worker.hpp"
#include "measure/worker_messages.hpp"
#include "model/candidate_list.hpp"
#include "model/device_limits.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// Measures in a worker process, so that whatever a kernel does costs one worker and nothing else.
///
/// A worker that dies, hangs beyond its deadline or sends garbage is replaced. The problem begins
/// anew in the next worker, and admitted candidates are admitted again when they are next needed,
/// so that callers see an Outcome and nothing more. Candidates are not blamed for what others did:
///
/// - A crash in a worker that others have used counts only if the suspect, alone in a fresh worker,
///   crashes again, or has crashed its third worker.
/// - A worker in which a kernel has written where it must not is replaced before the next
///   candidate.
/// - A worker that was killed from outside (SIGKILL, SIGTERM: by an operator, or by the system when
///   memory runs out) is no candidate's fault, up to five times in a row.
class RemoteMeasurer : public Measurer {
 public:
  /// Starts a worker. Throws Error(gpu_failure) if none can be started, or the Error with which it
  /// refuses the device. Use the measurer on the constructing thread: workers die with that thread.
  RemoteMeasurer(WorkerSettings settings, MeasurePolicy policy)
      : Measurer(policy), worker_(std::move(settings), policy) {}

  /// The device's limits, with the free memory that the first worker reported.
  [[nodiscard]] const DeviceLimits& limits() const { return worker_.limits(); }
  /// The number of workers started so far.
  [[nodiscard]] int workers_started() const noexcept { return worker_.number(); }
  /// Seconds spent waiting for a worker to prepare problems, to verify and to take samples.
  [[nodiscard]] double busy_s() const noexcept { return worker_.busy_s(); }
  /// Seconds spent starting workers, replacements included.
  [[nodiscard]] double start_s() const noexcept { return worker_.start_s(); }

  using Measurer::begin_problem;
  void begin_problem(const Problem& problem, const Artifact& kernels,
                     const std::optional<Problem>& part) override;
  [[nodiscard]] Admission admit(CandidateId id, const CandidateKernel& candidate) override;
  using Measurer::sample;
  [[nodiscard]] Samples sample(CandidateId id, const SampleRequest& request) override;
  [[nodiscard]] std::optional<Outcome> recheck(CandidateId id) override {
    return judged(id, held_.at(id).kernel.label, [&] { return recheck_once(id); });
  }
  [[nodiscard]] Counted count(CandidateId id, const CountRequest& request) override;
  void retire(CandidateId id) override;
  [[nodiscard]] bool context_lost() const noexcept override { return false; }

  /// Measures how fast the device multiplies dense matrices and reads its memory. May be called at
  /// any time between other steps. Throws Error(gpu_failure); the worker is then replaced.
  [[nodiscard]] DeviceRates device_rates(const Artifact& kernel);

  /// Launches a kernel once, on the request's inputs, and returns what it has written. Needs no
  /// begin_problem(), and must not be called after it.
  [[nodiscard]] DebugResult run_for_debug(const DebugRequest& request);

 private:
  struct Held {
    CandidateKernel kernel;
    int worker = 0;  // the number of the worker in which it is admitted
  };

  /// A sample that the worker was told to take after another one, before it had answered that one.
  struct Ahead {
    CandidateId id{};
    int round = 0;
    Extent extent = Extent::whole;
    int worker = 0;  // number
  };

  /// Uses the candidate in the worker, and returns its failure.
  using Step = std::function<std::optional<Outcome>()>;

  /// Repeats the step as often as it takes to know whose fault a failure is. Returns the failure
  /// that is the candidate's own. Empty: there is none.
  [[nodiscard]] std::optional<Outcome> find_own_failure(CandidateId id, const std::string& label,
                                                        const Step& step);
  /// The same; a candidate with a failure is then forgotten.
  [[nodiscard]] std::optional<Outcome> judged(CandidateId id, const std::string& label,
                                              const Step& step);
  [[nodiscard]] bool is_in_worker(CandidateId id) const {
    const auto found = held_.find(id);
    return found != held_.end() && worker_.runs() && found->second.worker == worker_.number();
  }
  /// Deadlines are for runs of the problem itself, so a sample on the part counts as one on the
  /// whole.
  void saw_sample(double us, Extent extent) {
    worker_.deadlines().saw_sample(extent == Extent::part ? us / worker_.part_share() : us);
  }
  /// Ensures that the candidate is admitted in the worker. Returns the failure with which it cannot
  /// be run.
  [[nodiscard]] std::optional<Outcome> make_ready(CandidateId id);
  void forget(CandidateId id);
  [[nodiscard]] bool is_under_way(const std::optional<Ahead>& ahead) const {
    return ahead && worker_.runs() && ahead->worker == worker_.number();
  }
  [[nodiscard]] bool is_ahead(CandidateId id, const SampleRequest& request) const {
    return is_under_way(ahead_) && ahead_->id == id && ahead_->round == request.round &&
           ahead_->extent == request.extent && request.count == 1;
  }
  /// Tells the worker to take these samples, unless it has been told already, and the one after
  /// them.
  [[nodiscard]] std::optional<Death> tell(CandidateId id, const SampleRequest& request);
  /// Waits for a sample that was begun but is not wanted now.
  void settle_ahead();
  [[nodiscard]] Admission admit_once(CandidateId id, const CandidateKernel& kernel);
  [[nodiscard]] std::optional<Outcome> sample_once(CandidateId id, const SampleRequest& request,
                                                   Samples& samples);
  [[nodiscard]] std::optional<Outcome> take_samples(CandidateId id, int discarded,
                                                    const SampleRequest& request, Samples& samples);
  [[nodiscard]] std::optional<Outcome> recheck_once(CandidateId id);
  [[nodiscard]] Counted count_once(CandidateId id, const CountRequest& request);

  RemoteWorker worker_;
  std::map<CandidateId, int> crashes_;  // crashes in workers that others had used
  std::map<CandidateId, Held> held_;
  std::optional<Ahead> ahead_;
  // Findings of samples that were begun but not wanted.
  std::map<CandidateId, Outcome> failed_ahead_;
  std::map<CandidateId, Verification> verified_ahead_;
};

}  // namespace fatune
