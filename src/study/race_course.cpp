#include "study/race_course.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include "core/measure_policy.hpp"

namespace fatune {
namespace {

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

}  // namespace fatune
