#pragma once

#include <ostream>

#include "attention/problem.hpp"

namespace fatune {

/// How GoogleTest shows a Problem, also in the names of CTest's tests.
inline void PrintTo(const Problem& problem, std::ostream* out) { *out << describe(problem); }

}  // namespace fatune
