#include "commands/sweep/sweep.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "commands/sweep/simulation_report.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/problem_work.hpp"
#include "model/device_limits.hpp"
#include "plan/config_text.hpp"
#include "print/console.hpp"
#include "race/choose_search.hpp"
#include "race/simulate.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

/// The default number of jobs, fixed so that a command gives the same numbers on any machine.
constexpr std::size_t kUsualJobs = 16;

/// The results of a run on one problem, as a space to search.
class RecordedSpace {
 public:
  /// `report`: of a run of `families`. All references must outlive it.
  RecordedSpace(const FamilySet& families, const DeviceLimits& device, const SmRates& rates,
                const ProblemReport& report)
      : families_(families), maker_(families, device, rates, report.problem) {
    plan_.problem = report.problem;
    add(report.ranking);
    add(report.failures);
    for (const auto& [config, recorded] : tries_) {  // not in the order of the ranking
      plan_.configs.push_back(config);
    }
    std::vector<ProblemPlan> plans{std::move(plan_)};
    StoreOptions nothing_stored;
    nothing_stored.off = true;
    suggest_tuned(families, nothing_stored, device, plans);
    plan_ = std::move(plans.front());
    space_ = make_search_space(plan_, maker_);
    std::erase_if(space_.points, [](const SearchPoint& point) { return point.guess_us <= 0.0; });
  }

  /// `suggested`: whether the space has the suggestions that a run's would have.
  [[nodiscard]] SearchSpace points(bool suggested = false) const {
    SearchSpace space = space_;
    space.suggested.resize(suggested ? space.suggested.size() : 0);
    return space;
  }
  [[nodiscard]] const RecordedTries& tries() const noexcept { return tries_; }
  [[nodiscard]] const Problem& problem() const noexcept { return plan_.problem; }
  /// Returns the time of the fastest configuration, infinite if none has a time.
  [[nodiscard]] double best_us() const {
    double best_us = std::numeric_limits<double>::infinity();
    for (const auto& [config, recorded] : tries_) {
      best_us =
          is_ranked(recorded.outcome) ? std::min(best_us, ranked_us(recorded.outcome)) : best_us;
    }
    return best_us;
  }

 private:
  void add(const std::vector<Result>& results) {
    for (const Result& result : results) {
      const Family* const family = families_.find(result.config.family);
      if (family == nullptr || std::holds_alternative<Pruned>(result.outcome)) {
        continue;
      }
      Config config = parse_short_form(*family, result.short_form);
      tries_.try_emplace(std::move(config), RecordedTry{result.outcome, result.compile_ms});
    }
  }

  const FamilySet& families_;
  CandidateMaker maker_;
  ProblemPlan plan_;
  RecordedTries tries_;
  SearchSpace space_;
};

std::size_t part_of(std::size_t configs) {
  return std::max<std::size_t>(
      1, static_cast<std::size_t>(static_cast<double>(configs) * kPartOfSpace));
}

double behind_percent(const std::vector<SimulatedTry>& tries, std::size_t part, double best_us) {
  double found_us = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(part, tries.size()); ++i) {
    found_us = std::min(found_us, tries[i].us.value_or(found_us));
  }
  return 100.0 * (found_us / best_us - 1.0);
}

SearchTrial try_search(SearchKind kind, const RecordedSpace& space, const SweepOptions& options) {
  const std::size_t configs = space.points().points.size();
  SearchTrial trial{space.problem(), kind, configs, part_of(configs), {}};
  const std::size_t jobs =
      options.compile.jobs > 0 ? static_cast<std::size_t>(options.compile.jobs) : kUsualJobs;
  const double best_us = space.best_us();
  const int seeds = kind == SearchKind::exhaustive ? 1 : options.simulation.seeds;
  const bool as_in_a_run = kind == SearchKind::automatic;
  for (int seed = 0; seed < seeds; ++seed) {
    SearchLimits limits{options.policy.seed + static_cast<std::uint64_t>(seed),
                        options.search.max_configs};
    if (!as_in_a_run) {
      limits.max_configs = limits.max_configs.value_or(configs);
    }
    const auto source = choose_search(kind, limits, configs)->begin(space.points(as_in_a_run));
    const SimulationEnd end{best_us * (1.0 + kCloseToBest), as_in_a_run ? configs : trial.part};
    const std::vector<SimulatedTry> tries = simulate(*source, space.tries(), jobs, end);
    SearchReplay& replay = trial.replays.emplace_back();
    replay.tried = tried_until(tries, end.us);
    replay.behind_percent = behind_percent(tries, trial.part, best_us);
    if (as_in_a_run) {
      replay.ended_after = static_cast<double>(tries.size());
      replay.ended_behind_percent = behind_percent(tries, tries.size(), best_us);
    }
  }
  return trial;
}

std::vector<SearchKind> searches_to_try(const SearchOptions& search) {
  if (search.kind) {
    return {*search.kind};
  }
  return {SearchKind::automatic, SearchKind::exhaustive, SearchKind::random, SearchKind::local,
          SearchKind::model};
}

void add_trials(const RunReport& run, const KernelSet& kernels, const SweepOptions& options,
                std::vector<SearchTrial>& trials) {
  const SmRates rates = load_sm_rates(kernels.tree, run.device.arch);
  for (const ProblemReport& report : run.problems) {
    const RecordedSpace space(kernels.families, run.device, rates, report);
    if (space.best_us() == std::numeric_limits<double>::infinity()) {
      continue;
    }
    for (const SearchKind kind : searches_to_try(options.search)) {
      trials.push_back(try_search(kind, space, options));
    }
  }
}

}  // namespace

ExitCode simulate_searches(const SweepOptions& options) {
  const std::string& input = *options.simulation.input;
  std::vector<SearchTrial> trials;
  for (const RunReport& run : load_runs(input, options.store.file).runs) {
    if (run.measured) {  // searches propose by the estimate, so it cannot judge them
      add_trials(run, choose_families_of(run, options.kernels), options, trials);
    }
  }
  if (trials.empty()) {
    throw Error(ExitCode::bad_file, "it has no times to replay", input,
                "give the results.json of an exhaustive sweep");
  }
  print_document(search_document(trials), options.output);
  return ExitCode::ok;
}

}  // namespace fatune
