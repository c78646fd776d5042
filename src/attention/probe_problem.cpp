#include "attention/probe_problem.hpp"

namespace fatune {

Problem probe_problem(const Problem& problem) {
  Problem probe = problem;
  probe.batch = 1;
  return probe;
}

}  // namespace fatune
