#include "engine/measuring_evaluator.hpp"

#include "engine/problem_race.hpp"
#include "measure/memory_plan.hpp"
#include "measure/plausibility.hpp"
#include "measure/worker_settings.hpp"

namespace fatune {
namespace {

WorkerSettings settings_for(const MeasuringSetup& setup) {
  WorkerSettings settings = worker_settings(setup.device_ordinal, setup.launcher);
  settings.count_rows = setup.count_rows;
  return settings;
}

/// Sets the architecture to compile for, which may differ from the GPU's.
DeviceLimits with_arch(DeviceLimits limits, Arch arch) {
  limits.arch = arch;
  return limits;
}

}  // namespace

MeasuringEvaluator::MeasuringEvaluator(const MeasuringSetup& setup)
    : kernels_(setup.sources, setup.problems, setup.arch, setup.cache),
      matmul_rates_({setup.matmul_sources, setup.arch, setup.cache}, setup.problems,
                    [this](const Artifact& kernel) { return measurer_.matmul_rate(kernel); }),
      lock_(setup.uuid, setup.wait, setup.on_wait),
      measurer_(settings_for(setup), setup.policy),
      limits_(with_arch(measurer_.limits(), setup.arch)),
      counters_(measurer_, setup.arch, setup.counters) {}

MeasuringEvaluator::~MeasuringEvaluator() = default;

void MeasuringEvaluator::begin_problem(const Problem& problem, const RaceTerms& terms,
                                       RunLog& log) {
  race_.reset();
  problem_ = problem;
  terms_ = terms;
  terms_.at_one_clock = measurer_.policy().device_gate &&
                        follows_clock(problem, limits_, measurer_.policy().flush_l2);
  log_ = &log;
  // This comes before anything of the problem is on the GPU, and while the first kernels are
  // compiled.
  matmul_ = matmul_rates_.of(problem.dtype);
}

/// Prepares the GPU for the problem when the first candidate needs it. Stored results do not need
/// it.
ProblemRace& MeasuringEvaluator::race() {
  if (!race_) {
    measurer_.begin_problem(problem_, kernels_.of(problem_), terms_.part);
    race_ = std::make_unique<ProblemRace>(measurer_, terms_, *log_, &counters_);
  }
  return *race_;
}

bool MeasuringEvaluator::resume(const std::vector<JournalEvent>& events,
                                const std::vector<ResumedCandidate>& candidates) {
  return race().resume(events, candidates);
}

std::optional<Outcome> MeasuringEvaluator::admit(CandidateId id, const Result&,
                                                 const CandidateKernel& kernel) {
  return race().admit(id, kernel);
}

bool MeasuringEvaluator::work() { return race_ && race_->work(); }

void MeasuringEvaluator::close() {
  if (race_) {
    race_->close();
  }
}

std::vector<CandidateOutcome> MeasuringEvaluator::known_so_far() const {
  return race_ ? race_->finish().results : std::vector<CandidateOutcome>{};
}

Evaluation MeasuringEvaluator::finish() {
  Evaluation evaluation = race_ ? race_->finish() : Evaluation{};
  evaluation.matmul = matmul_;
  return evaluation;
}

namespace {

/// Turns the device gate off. A profiler serialises launches, so a host that waits for the gate
/// would wait forever.
MeasurePolicy counting_policy(MeasurePolicy policy) {
  policy.device_gate = false;
  return policy;
}

}  // namespace

CountingSession::CountingSession(const MeasuringSetup& setup)
    : kernels_(setup.sources, setup.problems, setup.arch, setup.cache),
      lock_(setup.uuid, setup.wait, setup.on_wait),
      measurer_(worker_settings(setup.device_ordinal, setup.launcher),
                counting_policy(setup.policy)) {
  const Problem& problem = setup.problems.front();
  check_fits(problem, measurer_.policy(), measurer_.limits());
  measurer_.begin_problem(problem, kernels_.of(problem));
}

Counted CountingSession::count(const CandidateKernel& kernel, const CountRequest& request) {
  const CandidateId id{next_.index++};
  if (Admission admission = measurer_.admit(id, kernel); admission.failure) {
    return {{}, std::move(admission.failure)};
  }
  Counted counted = measurer_.count(id, request);
  measurer_.retire(id);
  return counted;
}

}  // namespace fatune
