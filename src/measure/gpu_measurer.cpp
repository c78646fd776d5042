#include "measure/gpu_measurer.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "attention/probe_problem.hpp"
#include "attention/range_names.hpp"
#include "core/error.hpp"
#include "gpu/nvtx.hpp"
#include "measure/counting.hpp"
#include "measure/driver_outcome.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/memory_plan.hpp"
#include "measure/plausibility.hpp"
#include "measure/timing.hpp"
#include "measure/verification.hpp"

namespace fatune {
namespace {

template <typename Item>
void append(const std::vector<Item>& more, std::vector<Item>& items) {
  items.insert(items.end(), more.begin(), more.end());
}

void check_has_graphs() {
  if (!gpu::has_graphs()) {
    throw Error(ExitCode::usage, "the driver has no CUDA graphs", {},
                "update the NVIDIA driver, or measure without graphs");
  }
}

}  // namespace

// Everything on the device that belongs to one problem.
class GpuMeasurer::ProblemState {
 public:
  ProblemState(const Problem& problem, const Artifact& kernels, const MeasurePolicy& policy,
               const DeviceLimits& limits, bool count_rows)
      : problem_(problem),
        kernels_(kernels),
        verifier_(problem, policy.seed, kernels_, stream_, count_rows),
        timer_(policy, plan_memory(problem, policy, limits).flush_bytes, kernels_, stream_),
        least_time_(least_time(problem, limits, policy.flush_l2)),
        mode_(policy.cuda_graph ? LaunchMode::graph : LaunchMode::plain) {}

  [[nodiscard]] Admission admit(CandidateId id, const Candidate& candidate,
                                const DeviceLimits& limits) {
    bench_ranges_.try_emplace(candidate.family, bench_range_name(candidate.family, problem_));
    auto kernel = std::make_unique<LoadedKernel>(*candidate.artifact);
    for (const LaunchGeometry& geometry : {candidate.probe_geometry, candidate.geometry}) {
      if (std::optional<std::string> limit = kernel->prepare(geometry, limits)) {
        return {{}, 0.0, Unlaunchable{*std::move(limit)}};
      }
    }
    KernelLaunch launch = kernel->launch(candidate.geometry, addresses(InputKind::normal), mode_,
                                         attention_range_name(candidate.family, problem_));
    auto [verdict, first_us] = verify(id, *kernel, launch, candidate);
    if (verdict.finding) {
      return {{}, 0.0, WrongResult{std::move(verdict.verification), *verdict.finding}};
    }
    if (auto implausible = find_implausible(first_us, least_time_)) {
      return {{}, 0.0, *std::move(implausible)};
    }
    admitted_.insert_or_assign(id, Admitted{std::move(kernel), std::move(launch)});
    return {std::move(verdict.verification), first_us, std::nullopt};
  }

  /// A sample in `sample_us`, or what is wrong with it.
  [[nodiscard]] std::optional<Outcome> sample(CandidateId id, double& sample_us) {
    last_run_ = id;
    unchecked_.insert(id);
    sample_us = timer_.take_sample(admitted_.at(id).launch);
    return find_implausible(sample_us, least_time_);
  }

  [[nodiscard]] std::optional<Outcome> recheck(CandidateId id) {
    for (;;) {
      if (last_run_ != id) {
        verifier_.prepare(InputKind::normal);
        last_run_ = id;
        admitted_.at(id).launch.queue(stream_);
      }
      const bool others_ran = others_ran_unchecked(id);
      Verdict last = check_normal();
      if (!last.finding) {
        return std::nullopt;
      }
      if (!last.damaged || !others_ran) {
        return WrongResult{std::move(last.verification), "after timing: " + *last.finding};
      }
    }
  }

  [[nodiscard]] std::vector<std::map<std::string, double>> count(CandidateId id,
                                                                 const CountRequest& request,
                                                                 const gpu::Context& context) {
    last_run_ = id;
    unchecked_.insert(id);
    return count_runs(admitted_.at(id).launch, request,
                      {context, stream_, [this] { timer_.queue_flush(); }});
  }

  [[nodiscard]] bool gate_in_use() const { return timer_.gate_in_use(); }

  void retire(CandidateId id) {
    if (last_run_ == id) {
      last_run_.reset();  // the next candidate may have its name
    }
    admitted_.erase(id);
  }

 private:
  struct Admitted {
    std::unique_ptr<LoadedKernel> kernel;
    KernelLaunch launch;  // on the problem itself
  };
  struct Verified {
    Verdict verdict;
    double first_us = 0.0;
  };

  [[nodiscard]] TensorAddresses addresses(InputKind kind) const {
    return
        [&tensors = verifier_.tensors(kind)](std::string_view name) { return tensors.find(name); };
  }

  [[nodiscard]] Verdict verify_probes(const LoadedKernel& kernel, const Candidate& candidate) {
    const std::string range = attention_range_name(candidate.family, probe_problem(problem_));
    std::vector<KernelLaunch> launches;  // live until check() has waited for them
    for (const InputKind kind : kProbeKinds) {
      verifier_.prepare(kind);
      launches.push_back(kernel.launch(candidate.probe_geometry, addresses(kind), mode_, range));
      launches.back().queue(stream_);
    }
    return verifier_.check(kProbeKinds);
  }

  // Then damage that a check finds may be theirs, and it takes another run to tell.
  [[nodiscard]] bool others_ran_unchecked(CandidateId id) const {
    return unchecked_.size() > unchecked_.count(id);
  }

  [[nodiscard]] Verdict check_normal() {
    unchecked_.clear();
    constexpr std::array kNormal{InputKind::normal};
    Verdict verdict = verifier_.check(kNormal);
    if (verdict.damaged) {
      last_run_.reset();
    }
    return verdict;
  }

  [[nodiscard]] Verified verify_whole(CandidateId id, const KernelLaunch& launch) {
    last_run_ = id;
    verifier_.prepare(InputKind::normal);
    const double first_us = timer_.take_sample(launch);
    return {check_normal(), first_us};
  }

  [[nodiscard]] Verified verify(CandidateId id, const LoadedKernel& kernel,
                                const KernelLaunch& launch, const Candidate& candidate) {
    for (;;) {
      const bool others_ran = others_ran_unchecked(id);
      Verdict probes = verify_probes(kernel, candidate);
      if (probes.finding) {
        return {std::move(probes), 0.0};
      }
      Verified whole = verify_whole(id, launch);
      if (!whole.verdict.damaged || !others_ran) {
        append(probes.verification.inputs, whole.verdict.verification.inputs);
        append(probes.verification.rows, whole.verdict.verification.rows);
        return whole;
      }
    }
  }

  Problem problem_;
  std::map<std::string, gpu::NvtxSpan> bench_ranges_;  // by family
  gpu::Stream stream_;
  MeasurementModule kernels_;
  Verifier verifier_;
  SampleTimer timer_;
  LeastTime least_time_;
  LaunchMode mode_;
  std::map<CandidateId, Admitted> admitted_;
  std::optional<CandidateId> last_run_;  // whose output the normal inputs' output tensor holds
  std::set<CandidateId> unchecked_;      // that were sampled since the last check
};

GpuMeasurer::GpuMeasurer(const gpu::Context& context, DeviceLimits limits, MeasurePolicy policy,
                         GpuMonitor* monitor, bool count_rows)
    : Measurer(policy),
      context_(context),
      limits_(std::move(limits)),
      monitor_(monitor),
      count_rows_(count_rows) {}

GpuMeasurer::~GpuMeasurer() = default;

bool GpuMeasurer::context_lost() const noexcept { return context_lost_; }

void GpuMeasurer::begin_problem(const Problem& problem, const Artifact& kernels) {
  check_problem(problem);
  state_.reset();  // the last problem's memory is free before this one's is counted
  limits_.free_memory_bytes = context_.memory().free_bytes;
  check_fits(problem, policy(), limits_);
  if (policy().cuda_graph) {
    check_has_graphs();
  }
  try {
    state_ = std::make_unique<ProblemState>(problem, kernels, policy(), limits_, count_rows_);
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
  const GpuMonitor::Work work(monitor_);
  try {
    return state().admit(id, candidate, limits_);
  } catch (const gpu::DriverError& error) {
    return {{}, 0.0, failed(id, error)};
  }
}

Samples GpuMeasurer::sample(CandidateId id, int count) {
  const GpuMonitor::Work work(monitor_);
  Samples samples;
  try {
    for (int i = 0; i < count; ++i) {
      double sample_us = 0.0;
      samples.failure = state().sample(id, sample_us);
      if (samples.failure) {
        retire(id);
        break;
      }
      samples.samples_us.push_back(sample_us);
      samples.readings.push_back(monitor_ == nullptr ? std::nullopt : monitor_->latest());
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

Counted GpuMeasurer::count(CandidateId id, const CountRequest& request) {
  const GpuMonitor::Work work(monitor_);
  try {
    return {state().count(id, request, context_), std::nullopt};
  } catch (const gpu::DriverError& error) {
    return {{}, failed(id, error)};
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
  return outcome_of(error);
}

}  // namespace fatune
