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

/// Counts hardware counters on one GPU, alone on it, in a worker process, for one problem. The
/// worker ends with the session: a profiler in front of it (MeasuringSetup::launcher) then writes
/// its report. Construct and use it on one thread.
class CountingSession {
 public:
  /// Waits for the GPU's lock, starts a worker, and prepares setup.problems.front(). Error as
  /// MeasuringEvaluator, and Error(too_large) when the problem does not fit.
  explicit CountingSession(const MeasuringSetup& setup);

  /// Verifies the candidate, counts it and retires it. A wrong candidate is a failure, and is never
  /// counted. Error(gpu_failure) when the counters cannot be read.
  [[nodiscard]] Counted count(const CandidateKernel& kernel, const CountRequest& request);

  /// False once a worker has died: a profiler's report then lacks what it had counted.
  [[nodiscard]] bool whole() const { return measurer_.workers_started() == 1; }

 private:
  VerifyingKernels kernels_;
  DeviceLock lock_;
  RemoteMeasurer measurer_;
  CandidateId next_{1};
};

}  // namespace fatune
