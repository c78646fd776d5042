#include "emulation/emulated_problem.hpp"

#include <fmt/format.h>

namespace fatune {

Problem compared_part(const EmulatedProblem& of) {
  Problem part = of.problem;
  if (of.only_head) {
    part.heads = part.kv_heads = 1;
  }
  return part;
}

std::string describe(const EmulatedProblem& problem) {
  const std::string whole = describe(problem.problem);
  return problem.only_head ? fmt::format("{}, head {} alone", whole, *problem.only_head) : whole;
}

}  // namespace fatune
