#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "engine/evaluator.hpp"
#include "engine/problem_race.hpp"
#include "engine/verifying_kernels.hpp"
#include "gpu/cubin_cache.hpp"
#include "measure/remote_measurer.hpp"
#include "model/kernel_code.hpp"

namespace fatune {

/// The behaviour while another process measures on the GPU.
enum class LockWait {
  yes,  ///< wait until that process ends
  no,   ///< throw an Error
};

/// Ensures that only one process measures on a GPU. Holds an exclusive lock on a file named after
/// the GPU, in /tmp or the folder that FATUNE_LOCK_DIR names; TMPDIR, which may differ between
/// processes, does not count. The lock is released when this object or the process ends. All users
/// share the file, which is never removed.
class DeviceLock {
 public:
  /// Takes the lock. Waits while another process holds it, and calls `on_wait` once before the
  /// wait. Throws Error(gpu_busy) if it must not wait, Error(interrupted) if the user ends the wait
  /// (interrupt.hpp), Error(io) if the file cannot be opened.
  DeviceLock(const std::string& uuid, LockWait wait, const std::function<void()>& on_wait);

 private:
  Descriptor file_;
};

/// The setup of a measuring evaluator.
struct MeasuringSetup {
  int device_ordinal = 0;
  std::string uuid;
  Arch arch;                                    ///< architecture to compile for
  std::shared_ptr<const SourceBundle> sources;  ///< sources of the kernels that verify
  /// Sources of the kernels that measure what the GPU reaches; null: that is not measured.
  std::shared_ptr<const SourceBundle> rates_sources;
  std::vector<Problem> problems;  ///< all problems that will be measured
  MeasurePolicy policy;
  bool count_rows = false;            ///< verifications say which rows are wrong
  CubinCache* cache = nullptr;        ///< may be null; must outlive the evaluator
  LockWait wait = LockWait::yes;      ///< when another process measures on the GPU
  std::function<void()> on_wait;      ///< called before a wait
  std::vector<std::string> launcher;  ///< the worker's launcher (WorkerCommand::launcher)
  int counters = 0;                   ///< how many results of each ranking get hardware counters
};

/// Verifies and times configurations on one GPU, in a worker process. Holds the GPU's lock, so that
/// no other fatune measures on it. Workers die with the thread that uses this, so construct and use
/// it on one thread.
class MeasuringEvaluator : public Evaluator {
 public:
  /// Waits for the GPU's lock, and starts a worker. Throws what DeviceLock and RemoteMeasurer
  /// throw.
  explicit MeasuringEvaluator(const MeasuringSetup& setup);

  [[nodiscard]] const DeviceLimits& limits() const override { return limits_; }
  void begin_problem(const Problem& problem, const RaceTerms& terms, RunLog& log) override;
  [[nodiscard]] bool resume(const std::vector<JournalEvent>& events,
                            const std::vector<ResumedCandidate>& candidates) override {
    return race().resume(events, candidates);
  }
  [[nodiscard]] std::optional<Outcome> admit(CandidateId id, const Result& /*result*/,
                                             const CandidateKernel& kernel) override {
    return race().admit(id, kernel);
  }
  [[nodiscard]] bool work() override { return race_ && race_->work(); }
  void close() override;
  [[nodiscard]] std::vector<CandidateOutcome> known_so_far() const override {
    return race_ ? race_->finish().results : std::vector<CandidateOutcome>{};
  }
  [[nodiscard]] Evaluation finish() override;
  [[nodiscard]] double busy_s() const override { return measurer_.busy_s(); }

 private:
  ProblemRace& race();

  VerifyingKernels kernels_;
  RatesByType rates_by_type_;
  DeviceLock lock_;
  RemoteMeasurer measurer_;
  DeviceLimits limits_;
  RaceCounters counters_;
  Problem problem_;
  std::optional<DeviceRates> rates_;
  RaceTerms terms_;
  RunLog* log_ = nullptr;
  std::unique_ptr<ProblemRace> race_;  ///< made for the problem's first candidate
};

/// Reads hardware counters for one problem on one GPU, in a worker process. Holds the GPU's lock,
/// so that no other fatune measures on it. The worker ends with the session; a profiler that starts
/// it (MeasuringSetup::launcher) then writes its report. Construct and use a session on one thread.
class CountingSession {
 public:
  /// Waits for the GPU's lock, starts a worker, and prepares setup.problems.front(). Throws what
  /// MeasuringEvaluator throws, and Error(too_large) if the problem does not fit.
  explicit CountingSession(const MeasuringSetup& setup);

  /// Verifies the candidate, reads its counters and retires it. A wrong candidate gives a failure
  /// and is never counted. Throws Error(gpu_failure) if the counters cannot be read.
  [[nodiscard]] Counted count(const CandidateKernel& kernel, const CountRequest& request);

  /// False once a worker has died: a profiler's report then lacks what that worker had counted.
  [[nodiscard]] bool whole() const { return measurer_.workers_started() == 1; }

 private:
  VerifyingKernels kernels_;
  DeviceLock lock_;
  RemoteMeasurer measurer_;
  CandidateId next_{1};
};

}  // namespace fatune
