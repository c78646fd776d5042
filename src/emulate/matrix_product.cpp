#include "emulate/matrix_product.hpp"

#include <cstddef>

namespace fatune::emulate {

// Compiled twice, and chosen when the program starts: most machines have wide vectors.
__attribute__((target_clones("arch=haswell", "default"))) void multiply_add(const MatrixA& a,
                                                                            const MatrixB& b,
                                                                            MatrixC& c) {
  for (std::size_t row = 0; row < 16; ++row) {
    double sums[8];
    for (std::size_t column = 0; column < 8; ++column) {
      sums[column] = static_cast<double>(c[row][column]);
    }
    for (std::size_t k = 0; k < 16; ++k) {
      const auto left = static_cast<double>(a[row][k]);
      for (std::size_t column = 0; column < 8; ++column) {
        sums[column] += left * static_cast<double>(b[k][column]);
      }
    }
    for (std::size_t column = 0; column < 8; ++column) {
      c[row][column] = static_cast<float>(sums[column]);
    }
  }
}

}  // namespace fatune::emulate
