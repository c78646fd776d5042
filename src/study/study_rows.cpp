#include "study/study_rows.hpp"

#include <algorithm>

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

}  // namespace fatune
