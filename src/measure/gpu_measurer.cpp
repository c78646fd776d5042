#include "measure/gpu_measurer.hpp"

#include <fmt/format.h>

#include <map>
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

  [[nodiscard]] Admission admit(CandidateId id, const Candidate& candidate,
                                const DeviceLimits& limits) {
    auto kernel = std::make_unique<LoadedKernel>(*candidate.artifact, candidate.geometry,
                                                 tensors_.attention_args());
    if (std::optional<std::string> limit = kernel->prepare(limits)) {
      return {{}, Unlaunchable{*std::move(limit)}};
    }
    inputs_are_normal_ = false;
    Verdict verdict = verifier_.verify(*kernel);
    if (verdict.finding) {
      return {{}, WrongResult{std::move(verdict.verification), *verdict.finding}};
    }
    admitted_.insert_or_assign(id, std::move(kernel));
    return {std::move(verdict.verification), std::nullopt};
  }

  [[nodiscard]] double sample_us(CandidateId id) {
    const LoadedKernel& kernel = *admitted_.at(id);
    make_inputs_normal();
    last_run_ = id;
    return timer_.take_sample(kernel);
  }

  [[nodiscard]] std::optional<Outcome> recheck(CandidateId id) {
    const LoadedKernel& kernel = *admitted_.at(id);
    if (!inputs_are_normal_ || last_run_ != id) {
      verifier_.fill(InputKind::normal);
      inputs_are_normal_ = true;
      last_run_ = id;
      kernel.launch(stream_);
    }
    Verdict last = verifier_.check_output(InputKind::normal);
    if (last.finding) {
      inputs_are_normal_ = false;  // it may have written over them
      return WrongResult{std::move(last.verification), "after timing: " + *last.finding};
    }
    return std::nullopt;
  }

  [[nodiscard]] bool gate_in_use() const { return timer_.gate_in_use(); }

  void retire(CandidateId id) { admitted_.erase(id); }

 private:
  void make_inputs_normal() {
    if (!inputs_are_normal_) {
      verifier_.fill(InputKind::normal);
      inputs_are_normal_ = true;
    }
  }

  gpu::Stream stream_;
  MeasurementModule kernels_;
  Tensors tensors_;
  Verifier verifier_;
  SampleTimer timer_;
  std::map<CandidateId, std::unique_ptr<LoadedKernel>> admitted_;
  CandidateId last_run_ = 0;
  bool inputs_are_normal_ = false;
};

GpuMeasurer::GpuMeasurer(const gpu::Context& context, DeviceLimits limits, MeasurePolicy policy)
    : Measurer(policy), context_(context), limits_(std::move(limits)) {}

GpuMeasurer::~GpuMeasurer() = default;

bool GpuMeasurer::context_lost() const noexcept { return context_lost_; }

void GpuMeasurer::begin_problem(const Problem& problem, const Artifact& kernels) {
  check_problem(problem);
  state_.reset();  // the last problem's memory is free before this one's is counted
  limits_.free_memory_bytes = context_.memory().free_bytes;
  check_fits(problem, policy(), limits_);
  try {
    state_ = std::make_unique<ProblemState>(problem, kernels, policy(),
                                            plan_memory(problem, policy(), limits_));
  } catch (const gpu::DriverError& error) {
    context_lost_ = error.sticky();
    throw;
  }
}

GpuMeasurer::ProblemState& GpuMeasurer::state() const {
  if (context_lost_ || state_ == nullptr) {
    throw std::logic_error("a candidate without a problem, or after the context was lost");
  }
  return *state_;
}

Admission GpuMeasurer::admit(CandidateId id, const Candidate& candidate) {
  try {
    return state().admit(id, candidate, limits_);
  } catch (const gpu::DriverError& error) {
    return {{}, failed(id, error)};
  }
}

Samples GpuMeasurer::sample(CandidateId id, int count) {
  Samples samples;
  try {
    for (int i = 0; i < count; ++i) {
      samples.samples_us.push_back(state().sample_us(id));
    }
  } catch (const gpu::DriverError& error) {
    samples.failure = failed(id, error);
  }
  samples.gate_in_use = state_ != nullptr && state_->gate_in_use();
  return samples;
}

std::optional<Outcome> GpuMeasurer::recheck(CandidateId id) {
  try {
    std::optional<Outcome> failure = state().recheck(id);
    if (failure) {
      retire(id);
    }
    return failure;
  } catch (const gpu::DriverError& error) {
    return failed(id, error);
  }
}

void GpuMeasurer::retire(CandidateId id) {
  if (state_ != nullptr) {
    state_->retire(id);
  }
}

Outcome GpuMeasurer::failed(CandidateId id, const gpu::DriverError& error) {
  context_lost_ = error.sticky();
  retire(id);
  if (refused(error)) {
    return Unlaunchable{describe(error)};
  }
  return Crashed{describe(error)};
}

}  // namespace fatune
