#include "measure/gpu_measurer.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/memory_plan.hpp"
#include "measure/tensors.hpp"
#include "measure/timing.hpp"
#include "measure/verification.hpp"

namespace fatune {
namespace {

std::string describe(const gpu::DriverError& error) {
  return fmt::format("{}: {} ({})", error.name(), error.text(), error.call());
}

// Refused before anything ran: the machine code or the launch does not suit the device.
bool refused(const gpu::DriverError& error) {
  return !error.sticky() &&
         (error.call() == "cuLaunchKernel" || error.call() == "cuFuncSetAttribute" ||
          error.call() == "cuModuleLoadData");
}

}  // namespace

// Everything on the device that belongs to one problem.
class GpuMeasurer::ProblemState {
 public:
  ProblemState(const Problem& problem, const Artifact& kernels, const MeasurePolicy& policy,
               const MemoryPlan& plan)
      : kernels_(kernels),
        tensors_(problem, plan),
        verifier_(problem, policy.seed, kernels_, tensors_, stream_),
        timer_(policy, plan.flush_bytes, kernels_, stream_) {}

  [[nodiscard]] LoadedKernel load(const Candidate& candidate) const {
    return {*candidate.artifact, candidate.geometry, tensors_.attention_args()};
  }

  [[nodiscard]] Outcome measure(const LoadedKernel& kernel, const MeasurePolicy& policy) {
    Verdict verdict = verifier_.verify(kernel);
    if (verdict.finding) {
      return WrongResult{std::move(verdict.verification), *verdict.finding};
    }
    verifier_.fill(InputKind::normal);
    Timing timing = time_kernel(timer_, kernel, policy);
    // A race may spare one run of many: the last timed output is looked at too.
    Verdict last = verifier_.check_output(InputKind::normal);
    if (last.finding) {
      return WrongResult{std::move(last.verification), "after timing: " + *last.finding};
    }
    return Measured{std::move(timing), std::move(verdict.verification)};
  }

 private:
  gpu::Stream stream_;
  MeasurementModule kernels_;
  Tensors tensors_;
  Verifier verifier_;
  SampleTimer timer_;
};

GpuMeasurer::GpuMeasurer(const gpu::Context& context, DeviceLimits limits, MeasurePolicy policy)
    : context_(context), limits_(std::move(limits)), policy_(policy) {}

GpuMeasurer::~GpuMeasurer() = default;

bool GpuMeasurer::context_lost() const noexcept { return context_lost_; }

void GpuMeasurer::begin_problem(const Problem& problem, const Artifact& kernels) {
  check_problem(problem);
  state_.reset();  // the last problem's memory is free before this one's is counted
  limits_.free_memory_bytes = context_.memory().free_bytes;
  check_fits(problem, policy_, limits_);
  try {
    state_ = std::make_unique<ProblemState>(problem, kernels, policy_,
                                            plan_memory(problem, policy_, limits_));
  } catch (const gpu::DriverError& error) {
    context_lost_ = error.sticky();
    throw;
  }
}

Outcome GpuMeasurer::measure(const Candidate& candidate) {
  if (context_lost_ || state_ == nullptr) {
    throw std::logic_error("measure() without a problem, or after the context was lost");
  }
  try {
    const LoadedKernel kernel = state_->load(candidate);
    if (std::optional<std::string> limit = kernel.prepare(limits_)) {
      return Unlaunchable{*std::move(limit)};
    }
    return state_->measure(kernel, policy_);
  } catch (const gpu::DriverError& error) {
    return crashed(error);
  }
}

Outcome GpuMeasurer::crashed(const gpu::DriverError& error) {
  context_lost_ = error.sticky();
  if (refused(error)) {
    return Unlaunchable{describe(error)};
  }
  return Crashed{describe(error)};
}

}  // namespace fatune
