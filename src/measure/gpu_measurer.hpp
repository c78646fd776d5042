#pragma once

#include <map>
#include <memory>
#include <optional>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "measure/measurer.hpp"
#include "measure/timing.hpp"
#include "model/device_limits.hpp"
#include "model/measure_policy.hpp"

namespace fatune {

/// Measures in this process, on one device. Use it on the thread on which `context` is current.
///
/// Candidates are verified on every input kind (verification.hpp) before they are sampled
/// (timing.hpp). A hung kernel hangs this process, and a crashed one ends measuring (context_lost).
/// RemoteMeasurer has neither limit, because it uses this class in a worker process.
class GpuMeasurer : public Measurer {
 public:
  /// `context` and `monitor` must outlive the measurer. `monitor` gives the samples their readings
  /// (null: they have none). `limits` are those of the context's device. `count_rows`:
  /// verifications say which rows are wrong.
  GpuMeasurer(const gpu::Context& context, DeviceLimits limits, MeasurePolicy policy,
              GpuMonitor* monitor = nullptr, bool count_rows = false);
  ~GpuMeasurer() override;
  GpuMeasurer(const GpuMeasurer&) = delete;
  GpuMeasurer& operator=(const GpuMeasurer&) = delete;

  using Measurer::begin_problem;
  void begin_problem(const Problem& problem, const Artifact& kernels,
                     const std::optional<Problem>& part) override;
  [[nodiscard]] Admission admit(CandidateId id, const CandidateKernel& kernel) override;
  using Measurer::sample;
  [[nodiscard]] Samples sample(CandidateId id, const SampleRequest& request) override;
  [[nodiscard]] std::optional<Outcome> recheck(CandidateId id) override;
  [[nodiscard]] Counted count(CandidateId id, const CountRequest& request) override;
  void retire(CandidateId id) override;
  [[nodiscard]] bool context_lost() const noexcept override { return context_lost_; }

 private:
  class ProblemState;

  [[nodiscard]] ProblemState& state() const;
  void add_sample(CandidateId id, int set, Samples& samples);
  /// The outcome of a candidate after a driver error; retires the candidate.
  [[nodiscard]] Outcome failed(CandidateId id, const gpu::DriverError& error);

  const gpu::Context& context_;
  DeviceLimits limits_;
  GpuMonitor* monitor_;
  bool count_rows_;
  std::map<std::size_t, Verification> repeated_before_;
  std::unique_ptr<ProblemState> state_;
  bool context_lost_ = false;
};

}  // namespace fatune
