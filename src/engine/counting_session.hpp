#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/device_lock.hpp"
#include "engine/measuring_evaluator.hpp"
#include "engine/verifying_kernels.hpp"
#include "measure/remote_measurer.hpp"

namespace fatune {

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
