#include "study/search_course.hpp"

#include <algorithm>

namespace fatune {

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
