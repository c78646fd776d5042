#include "study/study_rows.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <variant>

#include "core/stop_reason.hpp"

namespace fatune {
namespace {

/// Returns `count` of `all` places: the first places for half of them, then evenly spaced ones.
std::vector<std::size_t> sampled_places(std::size_t all, std::size_t count) {
  std::vector<std::size_t> places;
  const std::size_t first = count >= all ? all : (count + 1) / 2;
  for (std::size_t i = 0; i < first; ++i) {
    places.push_back(i);
  }
  const std::size_t spread = std::min(count, all) - first;
  for (std::size_t i = 0; i < spread; ++i) {
    places.push_back(first + (i + 1) * (all - first) / spread - 1);
  }
  return places;
}

/// The number of a problem's results to show: the same share for all problems, at least one.
std::size_t share_of(std::size_t ranked, std::size_t all, std::size_t most) {
  return all <= most ? ranked : std::max<std::size_t>(1, ranked * most / all);
}

std::size_t count_ranked(const std::vector<RunReport>& runs) {
  std::size_t all = 0;
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      all += problem.ranking.size();
    }
  }
  return all;
}

void add_rows(const RunReport& run, const ProblemReport& problem, std::size_t count,
              StudyRows& rows) {
  if (problem.ranking.empty()) {
    return;
  }
  const double least_us = ranked_us(problem.ranking.front().outcome);
  for (const std::size_t place : sampled_places(problem.ranking.size(), count)) {
    const Result& result = problem.ranking[place];
    rows.rows.push_back({static_cast<std::int64_t>(rows.rows.size()), &run, &problem, &result,
                         100.0 * (ranked_us(result.outcome) / least_us - 1.0)});
  }
}

bool was_raced(const ProblemReport& problem) {
  return problem.measuring && problem.measuring->stopped_because != StopReason::fixed_count;
}

/// Returns the samples that the race took of a configuration, or null if it took none.
const Timing* raced_timing(const Result& result) {
  const auto* measured = std::get_if<Measured>(&result.outcome);
  return measured != nullptr && !result.reused && result.same_code_as.empty() ? &measured->timing
                                                                              : nullptr;
}

}  // namespace

StudyRows study_rows(const std::vector<RunReport>& runs, std::size_t most) {
  StudyRows rows;
  rows.all = count_ranked(runs);
  for (const RunReport& run : runs) {
    for (const ProblemReport& problem : run.problems) {
      add_rows(run, problem, share_of(problem.ranking.size(), rows.all, most), rows);
    }
  }
  return rows;
}

std::vector<RoundOfRace> race_course(const ProblemReport& problem) {
  std::size_t contenders = 0;
  std::map<int, std::size_t> eliminated;
  for (const Result& result : problem.ranking) {
    if (const Timing* timing = raced_timing(result)) {
      ++contenders;
      if (const auto round = elimination_round(timing->stopped_because)) {
        ++eliminated[*round];
      }
    }
  }
  if (!was_raced(problem) || contenders == 0) {
    return {};
  }
  std::vector<RoundOfRace> course{{0, contenders}};
  for (const auto& [round, leaving] : eliminated) {
    contenders -= leaving;
    course.push_back({round, contenders});
  }
  return course;
}

std::vector<BestSoFar> search_course(const ProblemReport& problem) {
  std::vector<const Result*> proposed;
  for (const Result& result : problem.ranking) {
    if (result.proposal > 0) {
      proposed.push_back(&result);
    }
  }
  std::ranges::sort(proposed, {}, &Result::proposal);
  std::vector<BestSoFar> course;
  for (const Result* result : proposed) {
    const double us = ranked_us(result->outcome);
    if (course.empty() || us < course.back().us) {
      course.push_back({result->proposal, us, result->short_form, result->proposed_by});
    }
  }
  return course;
}

std::vector<std::size_t> pareto_front(const std::vector<Costs>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return costs[a].first != costs[b].first ? costs[a].first < costs[b].first
                                            : costs[a].second < costs[b].second;
  });
  std::vector<std::size_t> front;
  double least_second = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    const bool same_as_last = !front.empty() && costs[i].first == costs[front.back()].first &&
                              costs[i].second == costs[front.back()].second;
    if (costs[i].second < least_second || same_as_last) {
      front.push_back(i);
      least_second = costs[i].second;
    }
  }
  return front;
}

}  // namespace fatune
