#include "measure/gpu_measurer.hpp"

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "gpu/profiler.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/memory_plan.hpp"
#include "measure/plausibility.hpp"
#include "measure/verification.hpp"
#include "measure/watched_sampler.hpp"
#include "model/problem.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

std::string range_of(const CandidateKernel& kernel, const Problem& problem) {
  return attention_range_name(kernel.family, problem, kernel.label);
}

void append_verified(const Verification& more, Verification& verification) {
  append(verification.inputs, more.inputs);
  append(verification.rows, more.rows);
}

// Whether the admission runs all kinds of input but normal ones on the small problem, and defers
// them on the probe problem. It does so on the part of a problem.
bool defers_probes(const CandidateKernel& kernel) {
  return kernel.part_geometry && kernel.small_geometry && kernel.is_repeated;
}

// The problem on which the admission runs the kinds of input other than normal ones.
Verifier::Where probes_on(const CandidateKernel& kernel) {
  return defers_probes(kernel) ? Verifier::Where::small : Verifier::Where::probe;
}

/// The reading for a sample. The management library's clock is that of a moment, so a measured mean
/// clock replaces it.
std::optional<GpuReading> reading_of(const TimedRun& sample, GpuMonitor* monitor) {
  auto reading = monitor == nullptr ? std::nullopt : monitor->latest();
  if (sample.sm_mhz > 0.0) {
    reading = reading.value_or(GpuReading{});
    reading->sm_mhz = sample.sm_mhz;
  }
  return reading;
}

std::size_t launch_hash(const CandidateKernel& kernel, const LaunchGeometry& geometry) {
  const std::vector<char>& code = kernel.artifact->cubin;
  const std::hash<std::string_view> hash;
  return hash({code.data(), code.size()}) ^
         hash(kernel.artifact->lowered_name + record_text(record_json(geometry)));
}

}  // namespace

// Everything on the device that belongs to one problem.
class GpuMeasurer::ProblemState {
 public:
  ProblemState(const Problem& problem, const std::optional<Problem>& part, const Artifact& kernels,
               const MeasurePolicy& policy, const DeviceLimits& limits, bool count_rows,
               std::map<std::size_t, Verification>& repeated_before)
      : problem_(problem),
        kernels_(kernels),
        verifier_(problem, part, policy.seed, kernels_, stream_, count_rows),
        timer_(policy, plan_memory(problem, policy, limits).flush_bytes, kernels_, stream_),
        least_{least_time(problem, limits, policy.flush_l2),
               least_time(part.value_or(problem), limits, policy.flush_l2)},
        sampler_(verifier_, timer_, least_, stream_),
        repeated_(verifier_, stream_),
        repeated_before_(repeated_before),
        mode_(policy.cuda_graph ? LaunchMode::graph : LaunchMode::plain) {}

  [[nodiscard]] Admission admit(CandidateId id, const CandidateKernel& kernel,
                                const DeviceLimits& limits, GpuMonitor* monitor) {
    bench_ranges_.try_emplace(kernel.family, bench_range_name(kernel.family, problem_));
    auto loaded = std::make_unique<LoadedKernel>(*kernel.artifact);
    const LaunchGeometry& part = kernel.part_geometry.value_or(kernel.geometry);
    for (const LaunchGeometry& geometry : {kernel.small_geometry.value_or(kernel.probe_geometry),
                                           kernel.probe_geometry, part, kernel.geometry}) {
      if (std::optional<std::string> limit = loaded->prepare(geometry, limits)) {
        return {{}, 0.0, Unlaunchable{*std::move(limit)}};
      }
    }
    SampledKernel sampled;
    sampled.id = id;
    sampled.make_launch = [this, &code = *loaded, kernel](const Stage& stage, Extent extent) {
      return launch(code, extent == Extent::part ? *kernel.part_geometry : kernel.geometry, stage,
                    range_of(kernel, stage.problem()));
    };
    auto [verdict, first] = verify(*loaded, sampled, kernel);
    if (verdict.finding) {
      return {{}, 0.0, WrongResult{std::move(verdict.verification), *verdict.finding}};
    }
    const Extent extent = kernel.part_geometry ? Extent::part : Extent::whole;
    if (auto implausible =
            find_implausible(first.us, least_.at(static_cast<std::size_t>(extent)))) {
      return {{}, 0.0, *std::move(implausible)};
    }
    admitted_.insert_or_assign(id, Admitted{std::move(loaded), std::move(sampled), kernel});
    return {std::move(verdict.verification), first.us, std::nullopt, reading_of(first, monitor)};
  }

  /// Takes a sample into `sample`, or returns what is wrong with it.
  [[nodiscard]] std::optional<Outcome> sample(CandidateId id, int set, TimedRun& sample) {
    Admitted& candidate = admitted_.at(id);
    if (extent_of(set) == Extent::whole && defers_probes(candidate.kernel)) {
      if (std::optional<WrongResult> wrong = make_up_probes(candidate)) {
        return *std::move(wrong);
      }
    }
    return sampler_.sample(candidate.sampled, set, sample);
  }

  /// Takes what the samples since the last call have shown of the first run on the problem itself.
  [[nodiscard]] std::optional<Verification> take_verification(CandidateId id) {
    const auto found = admitted_.find(id);
    if (found == admitted_.end() || !found->second.sampled.verification) {
      return std::nullopt;
    }
    auto verification = std::exchange(found->second.sampled.verification, {});
    append_verified(found->second.probes, *verification);
    return verification;
  }

  [[nodiscard]] bool deterministic(CandidateId id) const {
    const auto found = admitted_.find(id);
    return found == admitted_.end() || found->second.sampled.deterministic;
  }

  [[nodiscard]] std::optional<Outcome> recheck(CandidateId id) {
    return sampler_.recheck(admitted_.at(id).sampled);
  }

  [[nodiscard]] std::vector<std::map<std::string, double>> count(CandidateId id,
                                                                 const CountRequest& request,
                                                                 const gpu::Context& context) {
    return count_runs(sampler_.about_to_run(admitted_.at(id).sampled), request,
                      {context, stream_, timer_});
  }

  [[nodiscard]] bool gate_in_use() const { return timer_.gate_in_use(); }

  void retire(CandidateId id) {
    sampler_.forget(id);
    admitted_.erase(id);
  }

 private:
  struct Admitted {
    std::unique_ptr<LoadedKernel> loaded;
    SampledKernel sampled;  // samples `loaded`
    CandidateKernel kernel;
    Verification probes{};  // what the deferred probes found, once they have run
    bool made_up = false;
  };
  struct Verified {
    OutputVerdict verdict;
    TimedRun first{};
  };

  [[nodiscard]] KernelLaunch launch(const LoadedKernel& loaded, const LaunchGeometry& geometry,
                                    const Stage& stage, const std::string& range) const {
    const TensorAddresses addresses = [&](std::string_view name) {
      return stage.find(geometry.arguments.buffers, name);
    };
    return loaded.launch(geometry, addresses, mode_, range);
  }

  // Launches the kernel many times on the kinds of input that are about values. Does so only once
  // for the same launch of the same machine code, whatever the problem.
  [[nodiscard]] OutputVerdict repeat(const LoadedKernel& loaded, SampledKernel& sampled,
                                     const CandidateKernel& kernel) {
    const auto where = kernel.small_geometry ? Verifier::Where::small : Verifier::Where::probe;
    const LaunchGeometry& geometry = kernel.small_geometry.value_or(kernel.probe_geometry);
    const std::size_t hash = launch_hash(kernel, geometry);
    if (const auto before = repeated_before_.find(hash); before != repeated_before_.end()) {
      return {before->second, std::nullopt, false};
    }
    const RepeatedLaunches::Stages stages{&verifier_.probe(kValueKinds[0], where),
                                          &verifier_.probe(kValueKinds[1], where)};
    const std::string range = range_of(kernel, stages[0]->problem());
    RepeatedLaunches::Result result = repeated_.run(
        stages, [&](const Stage& stage) { return launch(loaded, geometry, stage, range); });
    sampled.deterministic = sampled.deterministic && result.deterministic;
    if (!result.verdict.finding && result.deterministic) {
      repeated_before_.emplace(hash, result.verdict.verification);
    }
    return std::move(result.verdict);
  }

  // Runs and checks the kinds of input other than normal ones. Those about values are left to
  // repeat(), if the candidate is repeated.
  [[nodiscard]] OutputVerdict run_probes(const LoadedKernel& loaded, const CandidateKernel& kernel,
                                         Verifier::Where where) {
    const bool on_small = where == Verifier::Where::small;
    const LaunchGeometry& geometry = on_small ? *kernel.small_geometry : kernel.probe_geometry;
    std::vector<KernelLaunch> launches;  // live until check() has waited for them
    std::vector<const Stage*> stages;
    for (const InputKind kind : probe_kinds(verifier_.problem())) {
      if (kernel.is_repeated && is_about_values(kind)) {
        continue;
      }
      const Stage& stage = verifier_.probe(kind, where);
      launches.push_back(launch(loaded, geometry, stage, range_of(kernel, stage.problem())));
      stage.poison_output(launches.back().buffers());
      launches.back().queue(stream_);
      stages.push_back(&stage);
    }
    return verifier_.check(stages);
  }

  // Runs the deferred probes of a candidate that was admitted on the part, before its first sample
  // on the problem itself.
  [[nodiscard]] std::optional<WrongResult> make_up_probes(Admitted& candidate) {
    if (std::exchange(candidate.made_up, true)) {
      return std::nullopt;
    }
    OutputVerdict verdict = run_probes(*candidate.loaded, candidate.kernel, Verifier::Where::probe);
    if (verdict.finding) {
      return WrongResult{std::move(verdict.verification), *std::move(verdict.finding)};
    }
    candidate.probes = std::move(verdict.verification);
    return std::nullopt;
  }

  [[nodiscard]] OutputVerdict verify_probes(const LoadedKernel& loaded, SampledKernel& sampled,
                                            const CandidateKernel& kernel) {
    OutputVerdict verdict = run_probes(loaded, kernel, probes_on(kernel));
    if (kernel.is_repeated && !verdict.finding) {
      OutputVerdict repeated = repeat(loaded, sampled, kernel);
      append_verified(repeated.verification, verdict.verification);
      verdict.finding = std::move(repeated.finding);
    }
    return verdict;
  }

  [[nodiscard]] Verified verify(const LoadedKernel& loaded, SampledKernel& sampled,
                                const CandidateKernel& kernel) {
    const int set = set_of(kernel.part_geometry ? Extent::part : Extent::whole, 0);
    for (;;) {
      const bool others_ran = sampler_.others_ran_unchecked(sampled.id, set);
      OutputVerdict probes = verify_probes(loaded, sampled, kernel);
      if (probes.finding) {
        return {std::move(probes)};
      }
      Verified whole;
      whole.verdict = sampler_.first_sample(sampled, set, whole.first);
      if (!whole.verdict.damaged || !others_ran) {
        append_verified(probes.verification, whole.verdict.verification);
        whole.verdict.verification.method =
            verifier_.method(verifier_.normal(set), probes_on(kernel));
        return whole;
      }
    }
  }

  Problem problem_;
  std::map<std::string, gpu::NvtxSpan> bench_ranges_;  // keyed by family
  gpu::Stream stream_;
  MeasurementModule kernels_;
  Verifier verifier_;
  SampleTimer timer_;
  std::array<LeastTime, 2> least_;  // least times on the problem itself, and on its part
  WatchedSampler sampler_;
  RepeatedLaunches repeated_;
  std::map<std::size_t, Verification>& repeated_before_;  // launches that need no repetition
  LaunchMode mode_;
  std::map<CandidateId, Admitted> admitted_;
};

GpuMeasurer::GpuMeasurer(const gpu::Context& context, DeviceLimits limits, MeasurePolicy policy,
                         GpuMonitor* monitor, bool count_rows)
    : Measurer(policy),
      context_(context),
      limits_(std::move(limits)),
      monitor_(monitor),
      count_rows_(count_rows) {}

GpuMeasurer::~GpuMeasurer() = default;

void GpuMeasurer::begin_problem(const Problem& problem, const Artifact& kernels,
                                const std::optional<Problem>& part) {
  check_problem(problem);
  state_.reset();  // the last problem's memory is free before this one's is counted
  limits_.free_memory_bytes = context_.memory().free_bytes;
  check_fits(problem, policy(), limits_, part);
  if (policy().cuda_graph && !gpu::has_graphs()) {
    throw Error(ExitCode::usage, "the driver does not support CUDA graphs", {},
                "update the NVIDIA driver, or measure without graphs");
  }
  try {
    state_ = std::make_unique<ProblemState>(problem, part, kernels, policy(), limits_, count_rows_,
                                            repeated_before_);
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

Admission GpuMeasurer::admit(CandidateId id, const CandidateKernel& kernel) {
  const GpuMonitor::Work work(monitor_);
  try {
    return state().admit(id, kernel, limits_, monitor_);
  } catch (const gpu::DriverError& error) {
    return {{}, 0.0, failed(id, error)};
  }
}

Samples GpuMeasurer::sample(CandidateId id, const SampleRequest& request) {
  const GpuMonitor::Work work(monitor_);
  Samples samples;
  try {
    for (int i = 0; i < request.count && !samples.failure; ++i) {
      add_sample(id, set_of(request.extent, request.round + i), samples);
    }
    samples.deterministic = state().deterministic(id);
    samples.verification = state().take_verification(id);
  } catch (const gpu::DriverError& error) {
    samples.failure = failed(id, error);
  }
  samples.gate_in_use = state_ != nullptr && state_->gate_in_use();
  return samples;
}

void GpuMeasurer::add_sample(CandidateId id, int set, Samples& samples) {
  TimedRun sample;
  samples.failure = state().sample(id, set, sample);
  if (samples.failure) {
    retire(id);
    return;
  }
  samples.samples_us.push_back(sample.us);
  samples.readings.push_back(reading_of(sample, monitor_));
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
