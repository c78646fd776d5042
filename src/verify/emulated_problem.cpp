#include "verify/emulated_problem.hpp"

#include <fmt/format.h>

namespace fatune {

Problem compared_part(const EmulatedProblem& of) {
  Problem part = of.problem;
  part.heads = of.only_head ? 1 : part.heads;
  return part;
}

std::string describe(const EmulatedProblem& problem) {
  const std::string whole = describe(problem.problem);
  return problem.only_head ? fmt::format("{}, head {} alone", whole, *problem.only_head) : whole;
}

}  // namespace fatune
