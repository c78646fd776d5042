#include "rank/common_choices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "attention/flop.hpp"
#include "core/outcome.hpp"

namespace fatune {
namespace {

double slowdown(const Result& slower, const Result& faster) {
  const double faster_us = ranked_us(faster.outcome);
  return faster_us > 0.0 ? std::max(1.0, ranked_us(slower.outcome) / faster_us) : 1.0;
}

double as_percent(double slowdown) { return 100.0 * (slowdown - 1.0); }

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

bool several_problems(const std::vector<const ProblemReport*>& reports) {
  return std::ranges::any_of(reports, [&](const ProblemReport* report) {
    return report->problem != reports.front()->problem;
  });
}

/// Type and head dimension, which configurations name.
using Group = std::pair<DType, std::int64_t>;

std::map<Group, std::vector<const ProblemReport*>> groups_of(
    const std::vector<ProblemReport>& problems) {
  std::map<Group, std::vector<const ProblemReport*>> groups;
  for (const ProblemReport& report : problems) {
    if (!is_cover_race(report)) {
      groups[{report.problem.dtype, report.problem.d_head}].push_back(&report);
    }
  }
  return groups;
}

}  // namespace

std::vector<CommonChoice> common_choices(const std::vector<ProblemReport>& problems) {
  std::vector<CommonChoice> choices;
  for (const auto& [group, reports] : groups_of(problems)) {
    if (several_problems(reports)) {
      choices.push_back(choice_for(reports));
    }
  }
  return choices;
}

namespace {

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
