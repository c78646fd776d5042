#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "commands/row_reports.hpp"
#include "commands/sweep/sweep_plan.hpp"
#include "engine/candidate_maker.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/choice/problems.hpp"
#include "engine/choice/workload_order.hpp"
#include "engine/problem_work.hpp"
#include "engine/session.hpp"
#include "model/device_limits.hpp"
#include "model/emulation.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/scope.hpp"
#include "print/run_report.hpp"
#include "race/choose_search.hpp"
#include "race/simulate.hpp"
#include "store/fleet_folder.hpp"
#include "store/open_store.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

struct SweepOptions : MeasureOptions {
  std::optional<std::filesystem::path>
      workload;  ///< a file: its problems, in place of the options'
  AuditOptions audit;
  std::optional<double> cover_percent;  ///< PlannedRun::cover_percent
  AgainstOptions against;
  ShardOptions shard;
  std::optional<std::filesystem::path> record_dir;  ///< where a shard delivers what it has measured
  SearchOptions search;
  SimulationOptions simulation;
};

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

constexpr double kMedianShare = 0.5;
constexpr double kNineOfTen = 0.9;

/// Field::get for the nearest-rank quantile of a member of the replays: the least of the values
/// that `share` of the seeds do not exceed. Absent values are the greatest.
template <typename Value>
auto over_seeds(std::optional<Value> SearchReplay::*member, double share) {
  return [=](const SearchTrial& trial) -> std::optional<Value> {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<double> values = mapped(trial.replays, [&](const SearchReplay& one) {
      return one.*member ? static_cast<double>(*(one.*member)) : kNever;
    });
    std::ranges::sort(values);
    const auto place = std::ceil(share * static_cast<double>(values.size()));
    const double value = values.at(static_cast<std::size_t>(std::max(place, 1.0)) - 1);
    return value == kNever ? std::nullopt : std::optional(static_cast<Value>(value));
  };
}

const auto tried_most_seeds = over_seeds(&SearchReplay::tried, kNineOfTen);
const auto ended_close = [](const SearchTrial& t) {
  const auto close = std::ranges::count_if(t.replays, [](const SearchReplay& one) {
    return one.ended_behind_percent.value_or(0.0) <= 100.0 * kCloseToBest;
  });
  return t.replays.front().ended_after ? std::optional(close) : std::nullopt;
};
const auto tried_percent = [](const SearchTrial& t) {
  const auto tried = tried_most_seeds(t);
  return tried ? std::optional(100.0 * static_cast<double>(*tried) / static_cast<double>(t.configs))
               : std::nullopt;
};

}  // namespace

Fields<SearchTrial> search_fields() {
  using T = SearchTrial;
  return {
      {"problem", "problem", kWraps, [](auto& t) { return describe(t.problem); }},
      {"search", "search", [](auto& t) { return enum_name(t.search); }},
      {"configs", "configs", &T::configs},
      {"seeds", "seeds", [](auto& t) { return t.replays.size(); }},
      {"tried_median", "tried", over_seeds(&SearchReplay::tried, kMedianShare)},
      {"tried_9_of_10", "9 of 10", tried_most_seeds},
      {"tried_9_of_10_percent", "% of space", decimals(1), tried_percent},
      {"part", "part", kProgramsOnly, &T::part},
      {"behind_9_of_10_percent", "behind % at 5 %", decimals(2),
       over_seeds(&SearchReplay::behind_percent, kNineOfTen)},
      {"ended_after_median", "ended after", over_seeds(&SearchReplay::ended_after, kMedianShare)},
      {"ended_behind_9_of_10_percent", "behind % then", decimals(2),
       over_seeds(&SearchReplay::ended_behind_percent, kNineOfTen)},
      {"ended_close", "within 1 %", ended_close},
  };
}

namespace {

/// `sweep --simulate`: replays searches on recorded results, without a GPU and without compiling,
/// and prints how many configurations each tries until it has found a fast one (docs/search.md).
/// Throws Error(usage) if there is no such run, and Error(bad_file) for results without a time and
/// of configurations that the families do not have. Precondition: options.simulation.input.
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
  print_document(rows_document("search", "trials", search_fields(), trials), options.output);
  return ExitCode::ok;
}

/// Says that the shard has no problem, so that its work is done. Leaves an empty store, so that the
/// stores of all shards exist.
ExitCode say_nothing_to_do(const SweepOptions& options, const Shard& shard) {
  if (options.store.file && !options.store.off) {
    static_cast<void>(open_store(*options.store.file, Database::Mode::create));
  }
  print_note(options.output, fmt::format("shard {} has none of the sweep's {} problems",
                                         shard_text(shard), shard.sweep_problems));
  return ExitCode::ok;
}

/// Returns the search of an estimate, which compiles and emulates for a minute or so.
std::shared_ptr<const CandidateSearch> sample_of(const std::vector<ProblemPlan>& problems,
                                                 std::optional<std::size_t> most) {
  std::set<Config> configs;
  for (const ProblemPlan& plan : problems) {
    configs.insert(plan.configs.begin(), plan.configs.end());
  }
  return promising_sample(most.value_or(sample_size(configs.size(), problems.size())));
}

/// Whether an option says something about problems.
bool names_problems(const ProblemOptions& options) {
  return !options.seq_lens.empty() || !options.d_heads.empty() || !options.dtypes.empty() ||
         options.causal || options.batch || options.heads || !options.details.empty();
}

/// Options become a plan, a plan becomes artifacts, artifacts become outcomes, outcomes become a
/// ranking, a ranking becomes bytes.
ExitCode sweep(const SweepOptions& options) {
  if (options.simulation.input) {
    return simulate_searches(options);
  }
  KernelSet kernels = choose_families(options.kernels);
  if (options.workload && names_problems(options.problems)) {
    throw Error(ExitCode::usage, "the workload says which problems are swept", "--workload",
                "leave out --seq, --preset and the other options of a problem");
  }
  const std::optional<Workload> workload = if_any(options.workload, read_workload);
  SweepPlan planned = plan_sweep(
      {options.kernels, options.problems, workload, options.target, options.output}, kernels);
  std::vector<ProblemPlan> problems = std::move(planned.problems);
  const std::vector<FamilyPlan> plans = std::move(planned.families);
  std::optional<Config> baseline = planned_baseline(kernels.families, problems, options.baseline);
  std::shared_ptr<const Rivals> rivals;
  if (auto chosen = choose_rivals(options.against, kernels, options)) {
    rivals = std::make_shared<const Rivals>(*std::move(chosen));
  }
  PlannedRun run{std::move(kernels), planned.space, std::move(problems), baseline,
                 options.counters};
  run.cover_percent = options.cover_percent;
  run.notes = std::move(planned.notes);
  run.rivals = std::move(rivals);
  const SearchKind search = options.search.kind.value_or(SearchKind::automatic);
  const SearchLimits limits{options.policy.seed, options.search.max_configs};
  const auto greatest = greatest_of<std::size_t>(
      run.problems, [](const ProblemPlan& plan) { return plan.configs.size(); });
  run.fit = [&](const Target& target, std::vector<ProblemPlan>& fitted) {
    prune_problems(plans, target.limits, fitted);
    if (workload) {
      put_heaviest_first(run.kernels, target.limits, fitted);
    }
    if (!target.measured() || learns(search, limits, greatest)) {
      StoreOptions known = options.store;
      known.off = known.off || !target.measured();  // an estimate does without a damaged store
      suggest_tuned(run.kernels.families, known, target.limits, fitted);
    }
    if (target.measured()) {
      choose_audited(plans, options.audit, options.problems, options.policy.seed, fitted);
    }
  };
  run.search = choose_search(search, limits, greatest);
  if (search == SearchKind::automatic) {
    run.search_of_estimate = sample_of(run.problems, options.search.max_configs);
  }
  const std::string whole = plan_hash(run);
  if (run.shard = take_shard(options.shard, run.problems); run.shard) {
    run.shard->sweep = whole;
  }
  const ExitCode code = run.shard && run.problems.empty() ? say_nothing_to_do(options, *run.shard)
                                                          : carry_out(options, run);
  if (run.shard && options.record_dir) {
    deliver_shard(options.store, *run.shard, code, *options.record_dir);
  }
  return code;
}

constexpr std::int64_t kMostConfigs = 10'000'000;

void add_workload_option(CLI::App& app, std::optional<std::filesystem::path>& workload) {
  const OptionScope scope(app, option_group::kProblem);
  CLI::Option* const option =
      add_path_option(app, "--workload", "FILE",
                      "the problems of a workload, the heaviest first, with shares of the budget "
                      "by weight (docs/workload.md)",
                      workload);
  option->excludes("--audit")->excludes("--simulate");
}

void add_audit_option(CLI::App& app, AuditOptions& audit) {
  const OptionScope scope(app, option_group::kSearch);
  add_text_option(app, "--audit", "N|all",
                  "also try N configurations per problem that the rules dropped, and say what the "
                  "rules saved and cost",
                  [&](const std::string& text) {
                    audit.all = text == "all";
                    audit.count = audit.all ? 0 : parse_integer(text, "--audit", 1, kMostSamples);
                  });
}

void add_against_options(CLI::App& app, AgainstOptions& against) {
  const OptionScope scope(app, option_group::kMeasuring);
  add_text_option(
      app, "--against", "N|last|FILE",
      "race each winner against that of this stored run, best_configs.json or "
      "results.json, in the same rounds; exit code 12 if it is slower",
      [&](const std::string& text) { against.best = read_path(text, "--against").string(); });
  add_value(app, "--against-source", "DIR|REV",
            "build what is raced against from the kernels in this folder, or of this git "
            "revision; without --against: all configurations",
            against.source);
  add_tolerance_option(app, against.tolerance_percent);
}

void add_shard_options(CLI::App& app, ShardOptions& shard,
                       std::optional<std::filesystem::path>& record_dir) {
  const OptionScope scope(app, option_group::kFleets);
  CLI::Option* const number = add_value(
      app, "--shard", "I/N|auto",
      "only the problems of shard I of N, e.g. 3/8; auto: that of this Slurm job array task",
      shard.shard, read_shard);
  number->excludes("--cover");
  add_value(app, "--fleet", "NAME",
            "name for the shards: merging joins shards of one name and sweep into one run",
            shard.fleet)
      ->needs(number);
  add_path_option(app, "--record", "DIR",
                  "folder that gets a copy of the store when the shard has ended, and then the "
                  "record that it has",
                  record_dir)
      ->needs(number)
      ->needs("--db");
}

void add_search_options(CLI::App& app, SearchOptions& search, SimulationOptions& simulation) {
  const OptionScope scope(app, option_group::kSearch);
  add_value(app, "--search", "auto|exhaustive|random|local|model",
            "which configurations are tried (default: auto: all of a small space, else those "
            "that a model of the times so far proposes, until more is unlikely to help)",
            search.kind, [](const std::string& text) {
              return parse_enum<SearchKind>(
                  text, ExitCode::usage, "--search",
                  "searches are auto, exhaustive, random, local and model");
            });
  add_text_option(app, "--max-configs", "N",
                  "try at most N configurations per problem (default: all in an exhaustive search, "
                  "else 5 percent, at least 128, or 48 for auto, and at most 256)",
                  [&](const std::string& text) {
                    search.max_configs = static_cast<std::size_t>(
                        parse_integer(text, "--max-configs", 1, kMostConfigs));
                  });
  add_value(app, "--simulate", "N|last|FILE",
            "measure nothing: replay the searches on this stored run or results.json, and say "
            "how many configurations each tries until one is within 1 percent of the fastest",
            simulation.input);
  add_integer(app, "--seeds", "with --simulate: replays of each search (default: 10)", 1, 1000,
              simulation.seeds);
}

}  // namespace

void add_sweep_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "sweep", "Find the fastest configuration for each problem", sweep);
  add_measure_options(sub, options, SpaceOption::yes, Strategy::race);
  add_audit_option(sub, options.audit);
  add_cover_option(
      sub,
      "with several problems: also time, on each, winners of the others that the rules "
      "dropped there, and show the smallest set of configurations that has one within "
      "PERCENT of each winner",
      options.cover_percent);
  add_against_options(sub, options.against);
  add_junit_option(sub, options.files.junit_file);
  add_shard_options(sub, options.shard, options.record_dir);
  add_search_options(sub, options.search, options.simulation);
  add_workload_option(sub, options.workload);
  add_counters_option(sub, options.counters);
  add_view_options(sub, options.output.view);
  sub.footer(R"(Examples:
  fatune sweep --seq 4096 --dhead 128
  fatune sweep --seq 1024,2048,4096 --dhead 128 --dtype fp16,bf16 --out results
  fatune sweep --seq 8192 --dhead 64 --causal --space all --best best.json
  fatune sweep --seq 4096 --dhead 128 --arch sm_80 --device none   (an estimate)
  fatune sweep --seq 4096 --dhead 128 --search model --max-configs 300
  fatune sweep --simulate results/results.json      (compare searches, no GPU)
  fatune sweep --seq 512,4096 --columns seq_len,config,time_us --sort time_us
  fatune sweep --workload chat.jsonl --budget 60     (docs/workload.md)
  fatune sweep --seq 512,1024,2048 --shard 3/8 --db 3.db   (docs/fleets.md)
  KERNELS=64,32 fatune sweep --seq 1000 --format csv)");
}

}  // namespace fatune
