#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/kv_pages.hpp"
#include "model/problem.hpp"

namespace fatune {

/// Which scale the rows of a tensor of 8 bits have.
class ScaleRows {
 public:
  /// Precondition: the tensor has scales.
  ScaleRows(const Problem& problem, TensorRole role);

  /// The index of a row's scale among those of scale_shape(). Rows of K and V are numbered as by
  /// KeyRows, and those of Q as if they were keys of a contiguous tensor. Precondition: there is
  /// such a row.
  [[nodiscard]] std::int64_t offset(std::int64_t batch, std::int64_t row, std::int64_t head) const;

 private:
  TensorShape shape_;
  std::int64_t block_;                ///< scale_block()
  std::optional<KeyRows> keys_;       ///< of K and V without scales of blocks
  std::vector<std::int32_t> starts_;  ///< starts_of() the packed sequences' rows; empty: not packed
};

}  // namespace fatune
