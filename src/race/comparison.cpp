#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "race/comparison.hpp"

namespace fatune {
namespace {

/// The same problem in both runs.
struct ProblemPair {
  const ProblemReport* old_problem;
  const ProblemReport* new_problem;
};

/// A configuration on a problem. A result is null if its run lacks it.
struct ConfigPair {
  std::size_t problem = 0;
  const Result* old_result = nullptr;
  const Result* new_result = nullptr;
};

using ConfigName = std::pair<std::string, std::string>;

bool was_tried(const Result* result) {
  return result != nullptr && !std::holds_alternative<Pruned>(result->outcome) &&
         !std::holds_alternative<Invalid>(result->outcome);
}

bool has_time(const Result* result) { return result != nullptr && is_ranked(result->outcome); }

/// Whether both runs have measured it.
bool is_shared(const ConfigPair& pair) {
  return has_time(pair.old_result) && has_time(pair.new_result) && !pair.old_result->reused &&
         !pair.new_result->reused;
}

const ProblemReport* find_problem(const RunReport& run, const ProblemReport& like) {
  const auto found = std::ranges::find_if(run.problems, [&](const ProblemReport& problem) {
    return problem.problem == like.problem && problem.run == like.run && !is_cover_race(problem);
  });
  return found == run.problems.end() ? nullptr : &*found;
}

std::vector<ProblemPair> pair_problems(const RunReport& old_run, const RunReport& new_run) {
  std::vector<ProblemPair> pairs;
  for (const ProblemReport& problem : new_run.problems) {
    const ProblemReport* const old_problem = find_problem(old_run, problem);
    if (old_problem != nullptr && find_problem(new_run, problem) == &problem) {
      pairs.push_back({old_problem, &problem});
    }
  }
  return pairs;
}

template <const Result* ConfigPair::*kSide>
void add_results(const ProblemReport& problem, std::size_t number,
                 std::map<ConfigName, ConfigPair>& pairs) {
  for (const auto* results : {&problem.ranking, &problem.failures}) {
    for (const Result& result : *results) {
      ConfigPair& pair = pairs[{result.config.family, result.short_form}];
      pair.problem = number;
      pair.*kSide = was_tried(&result) && pair.*kSide == nullptr ? &result : pair.*kSide;
    }
  }
}

/// Leaves out configurations that are missing in a partial run: they may have been measured.
std::vector<ConfigPair> pair_configs(const std::vector<ProblemPair>& problems, bool old_is_part,
                                     bool new_is_part) {
  std::vector<ConfigPair> all;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    std::map<ConfigName, ConfigPair> pairs;
    add_results<&ConfigPair::old_result>(*problems[i].old_problem, i, pairs);
    add_results<&ConfigPair::new_result>(*problems[i].new_problem, i, pairs);
    for (const auto& [name, pair] : pairs) {
      const bool has_old = pair.old_result != nullptr;
      const bool has_new = pair.new_result != nullptr;
      if ((has_old || !old_is_part) && (has_new || !new_is_part) && (has_old || has_new)) {
        all.push_back(pair);
      }
    }
  }
  return all;
}

std::vector<TimeChange> changes_of(const std::vector<ConfigPair>& configs,
                                   const std::vector<ProblemPair>& problems) {
  const auto old_noise =
      mapped(problems, [](const ProblemPair& problem) { return noise_of(*problem.old_problem); });
  const auto new_noise =
      mapped(problems, [](const ProblemPair& problem) { return noise_of(*problem.new_problem); });
  return mapped(configs, [&](const ConfigPair& pair) {
    const Result& before = *pair.old_result;
    const Result& after = *pair.new_result;
    return TimeChange{std::log(ranked_us(after.outcome) / ranked_us(before.outcome)),
                      joint_sd(median_sd(before, old_noise[pair.problem]),
                               median_sd(after, new_noise[pair.problem])),
                      pair.problem, before.same_code_as.empty() && after.same_code_as.empty()};
  });
}

const Result* winner_of(const ProblemReport& problem) {
  return problem.ranking.empty() ? nullptr : &problem.ranking.front();
}

bool is_winner(const ConfigPair& pair, const ProblemPair& problem) {
  return (pair.old_result != nullptr && pair.old_result == winner_of(*problem.old_problem)) ||
         (pair.new_result != nullptr && pair.new_result == winner_of(*problem.new_problem));
}

/// Whether `other` is in the ranking of `problem`, and cannot be told apart from its winner.
bool ties_with_winner(const ProblemReport& problem, const Result& other) {
  return std::ranges::any_of(problem.ranking, [&](const Result& result) {
    return result.short_form == other.short_form && result.config.family == other.config.family &&
           result.tie_group == problem.ranking.front().tie_group;
  });
}

WinnerChange winner_change(const ProblemPair& pair) {
  const Result* const before = winner_of(*pair.old_problem);
  const Result* const after = winner_of(*pair.new_problem);
  if (before == nullptr || after == nullptr) {
    return WinnerChange::unknown;
  }
  if (before->short_form == after->short_form && before->config.family == after->config.family) {
    return WinnerChange::same;
  }
  return ties_with_winner(*pair.old_problem, *after) || ties_with_winner(*pair.new_problem, *before)
             ? WinnerChange::tied
             : WinnerChange::changed;
}

std::string form_of(const Result* result) { return result == nullptr ? "" : result->short_form; }

std::optional<double> time_of(const Result* result) {
  return has_time(result) ? std::optional(ranked_us(result->outcome)) : std::nullopt;
}

std::optional<double> condition(const ProblemReport& problem, double GpuConditions::*member) {
  return problem.conditions ? std::optional((*problem.conditions).*member) : std::nullopt;
}

ComparedProblem compared_problem(const ProblemPair& pair, const Movement& movement,
                                 std::size_t shared) {
  const auto& [before, after] = pair;
  return {.problem = after->problem,
          .run = after->run,
          .shared = shared,
          .movement = movement,
          .winner = winner_change(pair),
          .old_winner = form_of(winner_of(*before)),
          .new_winner = form_of(winner_of(*after)),
          .old_us = time_of(winner_of(*before)),
          .new_us = time_of(winner_of(*after)),
          .calls = after->calls ? after->calls : before->calls,
          .old_sm_mhz = condition(*before, &GpuConditions::sm_mhz_median),
          .new_sm_mhz = condition(*after, &GpuConditions::sm_mhz_median),
          .old_temperature_c = condition(*before, &GpuConditions::temperature_c_max),
          .new_temperature_c = condition(*after, &GpuConditions::temperature_c_max)};
}

std::vector<ComparedProblem> compared_problems(const std::vector<ProblemPair>& problems,
                                               const std::vector<Movement>& movements,
                                               const std::vector<ConfigPair>& shared) {
  std::vector<ComparedProblem> compared;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto count = std::ranges::count(shared, i, &ConfigPair::problem);
    compared.push_back(
        compared_problem(problems[i], movements[i], static_cast<std::size_t>(count)));
  }
  return compared;
}

TrialEnd end_of(const Result* result) {
  return result == nullptr  ? TrialEnd::untried
         : has_time(result) ? TrialEnd::timed
                            : TrialEnd::failed;
}

/// Judges the change of a time. Precondition: `slower_by` is set.
void judge_time(const RunComparison& comparison, const Movement& movement, RivalCheck& check) {
  const double tolerance = comparison.tolerance_percent;
  const Verdict verdict = verdict_of(*check.slower_by, tolerance);
  const bool all_moved = std::abs(percent_of(movement.log_drift)) > tolerance;
  check.doubt = comparison.refusal != Doubt::none        ? comparison.refusal
                : movement.changes < kLeastForDrift      ? Doubt::few_shared
                : verdict == Verdict::undecided          ? Doubt::wide_interval
                : verdict == Verdict::equal && all_moved ? Doubt::all_moved
                                                         : Doubt::none;
  check.verdict = check.doubt == Doubt::none ? verdict : Verdict::undecided;
}

std::string failure_of(const ConfigPair& pair) {
  for (const Result* result : {pair.new_result, pair.old_result}) {
    if (result != nullptr && !has_time(result)) {
      return outcome_summary(result->outcome);
    }
  }
  return {};
}

/// The check of a configuration, without the judgement of its times.
RivalCheck check_of(const ConfigPair& pair, const ProblemReport& problem, Doubt refusal) {
  const Result& any = pair.new_result != nullptr ? *pair.new_result : *pair.old_result;
  RivalCheck check;
  check.problem = problem.problem;
  check.run = problem.run;
  check.family = any.config.family;
  check.config = any.short_form;
  check.rank = pair.new_result == nullptr ? 0 : pair.new_result->rank;
  check.rival_rank = pair.old_result == nullptr ? 0 : pair.old_result->rank;
  check.time_us = time_of(pair.new_result);
  check.rival_us = time_of(pair.old_result);
  check.why = failure_of(pair);
  if (has_time(pair.new_result) && has_time(pair.old_result)) {
    check.doubt = Doubt::reused;
    return check;
  }
  check.verdict = verdict_of(end_of(pair.new_result), end_of(pair.old_result));
  if (check.verdict == Verdict::failed && refusal != Doubt::none) {
    check.verdict = Verdict::undecided;
    check.doubt = refusal;
  }
  return check;
}

bool comes_before(const RivalCheck& a, const RivalCheck& b) {
  const auto size = [](const RivalCheck& check) {
    return check.slower_by ? std::abs(std::log1p(check.slower_by->percent / 100.0)) : 0.0;
  };
  return a.verdict != b.verdict ? a.verdict < b.verdict : size(a) > size(b);
}

bool has_one_time(const ConfigPair& pair) {
  return has_time(pair.old_result) == has_time(pair.new_result) &&
         (!has_time(pair.old_result) ||
          ranked_us(pair.old_result->outcome) == ranked_us(pair.new_result->outcome));
}

/// Whether both reports are of one run: it was started once, and no configuration has two times.
bool is_same_run(const RunReport& old_run, const RunReport& new_run,
                 const std::vector<ConfigPair>& configs) {
  return !old_run.started_at.empty() && old_run.started_at == new_run.started_at &&
         old_run.command_line == new_run.command_line && std::ranges::all_of(configs, has_one_time);
}

Doubt refusal_of(const RunReport& old_run, const RunReport& new_run,
                 const std::vector<ConfigPair>& configs) {
  return is_same_run(old_run, new_run, configs)       ? Doubt::same_run
         : old_run.device.name != new_run.device.name ? Doubt::other_device
         : !old_run.measured || !new_run.measured     ? Doubt::not_measured
                                                      : Doubt::none;
}

std::vector<ComparedProblem> problems_without(const RunReport& run, const RunReport& other) {
  std::vector<ComparedProblem> missing;
  for (const ProblemReport& problem : run.problems) {
    if (!is_cover_race(problem) && find_problem(run, problem) == &problem &&
        find_problem(other, problem) == nullptr) {
      ComparedProblem& one = missing.emplace_back();
      one.problem = problem.problem;
      one.run = problem.run;
    }
  }
  return missing;
}

void add_times(const std::vector<ConfigPair>& shared, const std::vector<ProblemPair>& problems,
               const std::vector<Movement>& movements, double confidence,
               RunComparison& comparison) {
  const std::vector<ChangeBeyondDrift> beyond =
      beyond_drift(changes_of(shared, problems), movements, confidence);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const std::size_t problem = shared[i].problem;
    RivalCheck& check = comparison.checks.emplace_back(
        check_of(shared[i], *problems[problem].new_problem, Doubt::none));
    check.slower_by = SlowerBy{percent_of(beyond[i].log_ratio), percent_of(beyond[i].low),
                               percent_of(beyond[i].high)};
    judge_time(comparison, movements[problem], check);
  }
}

/// Whether the sources of a family that both runs have differ.
bool has_other_sources(const SourceHashes& before, const SourceHashes& after) {
  return std::ranges::any_of(before, [&](const auto& source) {
    const auto found = after.find(source.first);
    return found != after.end() && found->second != source.second;
  });
}

}  // namespace

double percent_of(double log_ratio) { return 100.0 * std::expm1(log_ratio); }

std::vector<std::string> differences(const RunReport& before, const RunReport& after) {
  const Toolchain& old_tools = before.toolchain;
  const Toolchain& new_tools = after.toolchain;
  std::vector<std::string> names;
  for (const auto& [name, old_value, new_value] :
       {std::tuple{"GPU model", before.device.name, after.device.name},
        {"driver", old_tools.driver_release, new_tools.driver_release},
        {"driver's CUDA", old_tools.driver_version, new_tools.driver_version},
        {"NVRTC", old_tools.nvrtc_version, new_tools.nvrtc_version},
        {"fatune", old_tools.fatune_version, new_tools.fatune_version}}) {
    if (!old_value.empty() && !new_value.empty() && old_value != new_value) {
      names.push_back(fmt::format("{}: {}, now {}", name, old_value, new_value));
    }
  }
  if (has_other_sources(before.source_hashes, after.source_hashes)) {
    names.emplace_back("sources of the kernels");
  }
  return names;
}

RunComparison compare_runs(const ComparedRun& old_run, const ComparedRun& new_run,
                           const ComparePolicy& policy) {
  const std::vector<ProblemPair> problems = pair_problems(old_run.report, new_run.report);
  std::vector<ConfigPair> configs = pair_configs(problems, old_run.is_part, new_run.is_part);
  const auto others = std::stable_partition(configs.begin(), configs.end(), is_shared);
  std::vector<ConfigPair> shared(configs.begin(), others);
  const std::vector<TimeChange> changes = changes_of(shared, problems);
  const std::vector<Movement> movements = movements_of(changes, problems.size());
  RunComparison comparison{
      .tolerance_percent = policy.tolerance_percent,
      .refusal = refusal_of(old_run.report, new_run.report, configs),
      .movement = common_movement(changes),
      .problems = compared_problems(problems, movements, shared),
      .checks = {},
      .missing = problems_without(old_run.report, new_run.report),
      .added_problems = problems_without(new_run.report, old_run.report).size()};
  const auto is_left_out = [&](const ConfigPair& pair) {
    return policy.winners_only && !is_winner(pair, problems[pair.problem]);
  };
  std::erase_if(shared, is_left_out);
  add_times(shared, problems, movements, policy.confidence, comparison);
  for (const ConfigPair& pair : std::span(others, configs.end())) {
    if (!is_left_out(pair)) {
      comparison.checks.push_back(
          check_of(pair, *problems[pair.problem].new_problem, comparison.refusal));
    }
  }
  std::ranges::stable_sort(comparison.checks, comes_before);
  return comparison;
}

}  // namespace fatune
