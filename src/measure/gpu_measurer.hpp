#pragma once

#include <memory>

#include "core/device_limits.hpp"
#include "core/report.hpp"
#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "measure/measurer.hpp"

namespace fatune {

/// Measures in this process, on one device. Use it on the thread on which `context` is current.
///
/// A candidate is loaded, verified on every input kind (verification.hpp), warmed up and sampled
/// (timing.hpp), and its last timed output is verified once more. A hung kernel hangs this process,
/// and a crashed one ends measuring (context_lost); a measurer with a worker process lifts both.
class GpuMeasurer : public Measurer {
 public:
  /// `context` must outlive the measurer. `limits` are those of its device.
  GpuMeasurer(const gpu::Context& context, DeviceLimits limits, MeasurePolicy policy);
  ~GpuMeasurer() override;
  GpuMeasurer(const GpuMeasurer&) = delete;
  GpuMeasurer& operator=(const GpuMeasurer&) = delete;
  GpuMeasurer(GpuMeasurer&&) = delete;
  GpuMeasurer& operator=(GpuMeasurer&&) = delete;

  void begin_problem(const Problem& problem, const Artifact& kernels) override;
  [[nodiscard]] Outcome measure(const Candidate& candidate) override;
  [[nodiscard]] bool context_lost() const noexcept override;

 private:
  class ProblemState;

  [[nodiscard]] Outcome crashed(const gpu::DriverError& error);

  const gpu::Context& context_;
  DeviceLimits limits_;
  MeasurePolicy policy_;
  std::unique_ptr<ProblemState> state_;
  bool context_lost_ = false;
};

}  // namespace fatune
