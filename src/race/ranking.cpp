#include "race/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <variant>

#include "model/flop.hpp"
#include "model/outcome.hpp"

namespace fatune {
namespace {

bool is_usable(double time_us) { return std::isfinite(time_us) && time_us > 0.0; }

/// The time by which results are ordered; an invalid time counts as infinite.
double sort_key_us(const Result& result) {
  const double time_us = ranked_us(result.outcome);
  return is_usable(time_us) ? time_us : std::numeric_limits<double>::infinity();
}

bool is_better(const Result& a, const Result& b) {
  const double a_us = sort_key_us(a);
  const double b_us = sort_key_us(b);
  return a_us != b_us ? a_us < b_us : a.config < b.config;
}

struct Interval {
  double low_us;
  double high_us;
};

Interval interval_of(const Result& result) {
  if (const auto* measured = std::get_if<Measured>(&result.outcome)) {
    const Timing& timing = measured->timing;
    return timing.median_high_us > 0.0 ? Interval{timing.median_low_us, timing.median_high_us}
                                       : Interval{timing.median_us, timing.median_us};
  }
  const double time_us = ranked_us(result.outcome);
  return {time_us, time_us * (1.0 + kEstimateResolution)};
}

bool overlap(const Result& a, const Result& b) {
  const Interval x = interval_of(a);
  const Interval y = interval_of(b);
  return x.low_us <= y.high_us && y.low_us <= x.high_us;
}

/// Precondition: `results` are ordered.
void number_groups(std::vector<Result>& results) {
  const Result* best_of_group = nullptr;
  int group = 0;
  for (Result& result : results) {
    if (best_of_group == nullptr || !overlap(*best_of_group, result)) {
      best_of_group = &result;
      ++group;
    }
    result.tie_group = group;
  }
}

bool is_ahead(const Result& a, const Result& b) {
  return a.rank != b.rank ? a.rank < b.rank : a.config < b.config;
}

/// Numbers the groups from 1 and keeps their borders. Precondition: `results` are ordered.
void renumber_groups(std::vector<Result>& results) {
  int group = 0;
  int former = 0;
  for (Result& result : results) {
    group += static_cast<int>(std::exchange(former, result.tie_group) != result.tie_group);
    result.tie_group = group;
  }
}

/// Compares with the baseline or, if that is not ranked, with the fastest.
void fill_relative(std::vector<Result>& results, const std::optional<Config>& baseline) {
  const auto chosen = std::ranges::find_if(
      results, [&](const Result& result) { return baseline && result.config == *baseline; });
  const Outcome& reference = (chosen == results.end() ? results.front() : *chosen).outcome;
  for (Result& result : results) {
    const auto [reference_us, time_us] = compared_us(reference, result.outcome);
    const bool usable = is_usable(time_us) && is_usable(reference_us);
    result.relative_percent = usable ? 100.0 * reference_us / time_us : 0.0;
  }
}

std::optional<double> median_us_of(const Result* result) {
  return result == nullptr ? std::nullopt : std::optional(ranked_us(result->outcome));
}

double as_percent(double slowdown) { return 100.0 * (slowdown - 1.0); }

/// The ratio of the time of `ours` to that of `theirs`. Pairs are kept with the slower of the two.
std::optional<MedianInterval> ratio_of(const Result& ours, const Result& theirs) {
  if (ours.to_fastest) {
    return ours.to_fastest;
  }
  if (!theirs.to_fastest || theirs.to_fastest->low <= 0.0) {
    return std::nullopt;
  }
  const MedianInterval& inverse = *theirs.to_fastest;
  return MedianInterval{1.0 / inverse.high, 1.0 / inverse.low, inverse.confidence};
}

std::size_t count_rounds(const Result& result) {
  const auto* const measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr ? 0 : measured->timing.samples_us.size();
}

void judge_timed(const Result& ours, const Result& theirs, double tolerance_percent,
                 RivalCheck& check) {
  if (ours.same_code_as == theirs.short_form || theirs.same_code_as == ours.short_form) {
    check.verdict = Verdict::equal;
    check.why = "their machine code and launch are the same";
    return;
  }
  check.rounds = std::min(count_rounds(ours), count_rounds(theirs));
  const std::optional<MedianInterval> ratio = ratio_of(ours, theirs);
  if (!ratio) {
    check.doubt = Doubt::few_samples;
    return;
  }
  check.slower_by = SlowerBy{as_percent(*check.time_us / *check.rival_us), as_percent(ratio->low),
                             as_percent(ratio->high)};
  check.verdict = verdict_of(*check.slower_by, tolerance_percent);
  check.doubt = check.verdict == Verdict::undecided ? Doubt::wide_interval : Doubt::none;
}

double slowdown(const Result& slower, const Result& faster) {
  const auto [slower_us, faster_us] = compared_us(slower.outcome, faster.outcome);
  return faster_us > 0.0 ? std::max(1.0, slower_us / faster_us) : 1.0;
}

/// The results of one configuration on the problems on which it is ranked.
struct Record {
  const Result* result = nullptr;
  std::size_t problems = 0;
  double log_slowdowns = 0.0;  ///< their sum
  double worst = 0.0;
  Problem worst_problem;

  void add(const Result& ranked, double slowdown, const Problem& problem) {
    result = &ranked;
    ++problems;
    log_slowdowns += std::log(slowdown);
    if (slowdown > worst) {
      worst = slowdown;
      worst_problem = problem;
    }
  }
};
using Records = std::map<Config, Record>;

Records records_of(const std::vector<const ProblemReport*>& reports) {
  Records records;
  for (const ProblemReport* report : reports) {
    for (const Result& result : report->ranking) {
      records[result.config].add(result, slowdown(result, report->ranking.front()),
                                 report->problem);
    }
  }
  return records;
}

/// Returns null if no configuration is ranked on all `problems`.
const Record* best_on_all(const Records& records, std::size_t problems) {
  const Record* best = nullptr;
  const auto key = [](const Record& record) {
    return std::pair(record.log_slowdowns, record.worst);
  };
  for (const auto& [config, record] : records) {
    if (record.problems == problems && (best == nullptr || key(record) < key(*best))) {
      best = &record;
    }
  }
  return best;
}

CommonChoice choice_for(const std::vector<const ProblemReport*>& reports) {
  CommonChoice choice;
  choice.dtype = reports.front()->problem.dtype;
  choice.d_head = reports.front()->problem.d_head;
  choice.problems = reports.size();
  const Records records = records_of(reports);
  if (const Record* const best = best_on_all(records, reports.size())) {
    const double mean = best->log_slowdowns / static_cast<double>(reports.size());
    choice.config = best->result->short_form;
    choice.family = best->result->config.family;
    choice.mean_regret_percent = as_percent(std::exp(mean));
    choice.worst_regret_percent = as_percent(best->worst);
    choice.worst_problem = best->worst_problem;
  }
  return choice;
}

/// Type and head dimension, which configurations name.
using Shape = std::pair<DType, std::int64_t>;

std::map<Shape, std::vector<const ProblemReport*>> groups_of(
    const std::vector<ProblemReport>& problems) {
  std::map<Shape, std::vector<const ProblemReport*>> groups;
  for (const ProblemReport& report : problems) {
    if (!is_cover_race(report)) {
      groups[{report.problem.dtype, report.problem.d_head}].push_back(&report);
    }
  }
  return groups;
}

double time_us(const CaseResult& result) {
  return result.best ? ranked_us(result.best->outcome) : 0.0;
}

/// FLOP per microsecond; 0 without a time.
double rate(const CaseResult& result) {
  const double us = time_us(result);
  return us > 0.0 ? literature_flop(result.problem) / us : 0.0;
}

std::optional<double> ratio(double numerator, double denominator) {
  return numerator > 0.0 && denominator > 0.0 ? std::optional(numerator / denominator)
                                              : std::nullopt;
}

/// The first result that `same` accepts. Precondition: it accepts one.
template <typename Same>
const CaseResult& first_of(const std::vector<CaseResult>& results, const Same& same) {
  return *std::ranges::find_if(results, same);
}

}  // namespace

void rank_results(std::vector<Result>& results, const std::optional<Config>& baseline) {
  if (results.empty()) {
    return;
  }
  const bool raced = std::ranges::all_of(
      results, [](const Result& result) { return result.rank > 0 && result.tie_group > 0; });
  std::ranges::stable_sort(results, raced ? is_ahead : is_better);
  int rank = 0;
  for (Result& result : results) {
    result.rank = ++rank;
  }
  raced ? renumber_groups(results) : number_groups(results);
  fill_relative(results, baseline);
}

void sort_into_report(std::vector<Result> results, const std::optional<Config>& baseline,
                      ProblemReport& report) {
  const auto failures =
      std::stable_partition(results.begin(), results.end(),
                            [](const Result& result) { return is_ranked(result.outcome); });
  report.failures.assign(std::make_move_iterator(failures), std::make_move_iterator(results.end()));
  results.erase(failures, results.end());
  report.ranking = std::move(results);
  std::ranges::stable_sort(report.failures,
                           [](const Result& a, const Result& b) { return a.config < b.config; });
  rank_results(report.ranking, baseline);
}

void judge_duel(const ProblemReport& duel, const Config& config, const Config& rival,
                double tolerance_percent, RivalCheck& check) {
  const Result* const ours = find_result(duel.ranking, config);
  const Result* const theirs = find_result(duel.ranking, rival);
  const Result* const our_failure = find_result(duel.failures, config);
  const Result* const their_failure = find_result(duel.failures, rival);
  check.time_us = median_us_of(ours);
  check.rival_us = median_us_of(theirs);
  if (ours != nullptr && theirs != nullptr) {
    judge_timed(*ours, *theirs, tolerance_percent, check);
  } else if ((ours == nullptr && our_failure == nullptr) ||
             (theirs == nullptr && their_failure == nullptr)) {
    check.doubt = Doubt::stopped;
  } else {
    check.verdict = verdict_of(ours != nullptr ? TrialEnd::timed : TrialEnd::failed,
                               theirs != nullptr ? TrialEnd::timed : TrialEnd::failed);
    check.why = outcome_summary((ours == nullptr ? our_failure : their_failure)->outcome);
  }
}

std::vector<CommonChoice> common_choices(const std::vector<ProblemReport>& problems) {
  std::vector<CommonChoice> choices;
  for (const auto& [group, reports] : groups_of(problems)) {
    if (std::ranges::any_of(reports, [first = reports.front()](const ProblemReport* report) {
          return report->problem != first->problem;
        })) {
      choices.push_back(choice_for(reports));
    }
  }
  return choices;
}

void compare_cases(std::vector<CaseResult>& results) {
  for (CaseResult& result : results) {
    const CaseResult& other =
        first_of(results, [&](const CaseResult& first) { return first.problem == result.problem; });
    const CaseResult& shorter =
        first_of(results, [&](const CaseResult& first) { return first.variant == result.variant; });
    result.speed_up = ratio(time_us(other), time_us(result));
    result.scaling = ratio(rate(result), rate(shorter));
  }
}

}  // namespace fatune
