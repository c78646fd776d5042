#pragma once

#include <ostream>

#include "model/problem.hpp"

namespace fatune {

/// Prints a Problem for GoogleTest, which also uses the text in the names of CTest's tests.
inline void PrintTo(const Problem& problem, std::ostream* out) { *out << describe(problem); }

}  // namespace fatune
