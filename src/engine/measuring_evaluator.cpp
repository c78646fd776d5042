#include "engine/measuring_evaluator.hpp"

#include <cstdlib>
#include <filesystem>

#include "engine/problem_race.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kThisProgram = "/proc/self/exe";

std::string worker_program(bool launched) {
  // Read before any thread is started, and never written.
  const char* const chosen = std::getenv("FATUNE_WORKER");  // NOLINT(concurrency-mt-unsafe)
  if (chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  // The link outlives a rebuilt program; in a launcher it would name the launcher.
  return launched ? fs::read_symlink(kThisProgram).string() : kThisProgram;
}

WorkerSettings worker_settings(const MeasuringSetup& setup) {
  const bool launched = !setup.launcher.empty();
  const DeadlineSettings deadlines = deadline_settings_from_environment();
  return {{worker_program(launched), setup.launcher},
          setup.device_ordinal,
          launched ? under_tool(deadlines) : deadlines,
          setup.count_rows};
}

/// What is compiled for need not be the very architecture of the GPU.
DeviceLimits with_arch(DeviceLimits limits, Arch arch) {
  limits.arch = arch;
  return limits;
}

}  // namespace

MeasuringEvaluator::MeasuringEvaluator(const MeasuringSetup& setup)
    : kernels_(setup.sources, setup.problems, setup.arch, setup.cache),
      lock_(setup.uuid, setup.wait, setup.on_wait),
      measurer_(worker_settings(setup), setup.policy),
      limits_(with_arch(measurer_.limits(), setup.arch)) {}

MeasuringEvaluator::~MeasuringEvaluator() = default;

void MeasuringEvaluator::begin_problem(const Problem& problem, std::optional<double> budget_s,
                                       RunLog& log) {
  race_.reset();
  problem_ = problem;
  budget_s_ = budget_s;
  log_ = &log;
}

/// Prepares the GPU for the problem when the first trial needs it: what is stored already does not.
ProblemRace& MeasuringEvaluator::race() {
  if (!race_) {
    measurer_.begin_problem(problem_, kernels_.of(problem_));
    race_ = std::make_unique<ProblemRace>(measurer_, budget_s_, *log_);
  }
  return *race_;
}

bool MeasuringEvaluator::resume(const std::vector<JournalEvent>& events,
                                const std::vector<ResumedTrial>& trials) {
  return race().resume(events, trials);
}

std::optional<Outcome> MeasuringEvaluator::admit(TrialId trial, const Entry&,
                                                 const Candidate& candidate) {
  return race().admit(trial, candidate);
}

bool MeasuringEvaluator::work() { return race_ && race_->work(); }

void MeasuringEvaluator::close() {
  if (race_) {
    race_->close();
  }
}

Evaluation MeasuringEvaluator::finish() { return race_ ? race_->finish() : Evaluation{}; }

}  // namespace fatune
