#pragma once

#include <array>

namespace fatune::emulate {

using MatrixA = std::array<std::array<float, 16>, 16>;  ///< [row][k]
using MatrixB = std::array<std::array<float, 8>, 16>;   ///< [k][column]
using MatrixC = std::array<std::array<float, 8>, 16>;   ///< [row][column]

/// C += A B. Products are exact and summed in double precision, then rounded once to single: what
/// tensor cores give differs from this in the last places (they cut off while they add).
void multiply_add(const MatrixA& a, const MatrixB& b, MatrixC& c);

}  // namespace fatune::emulate
