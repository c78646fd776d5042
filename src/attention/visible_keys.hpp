#pragma once

#include <cstdint>

#include "attention/problem.hpp"

namespace fatune {

/// Defines which keys queries see. The last query is at the last key's position, so query `row` is
/// at position row + seq_len_kv - seq_len, which may be before the first key.
struct Mask {
  std::int64_t seq_len = 0;
  std::int64_t seq_len_kv = 0;
  bool causal = false;
  std::int64_t window = 0;  ///< 0: none
};

/// Keys [first, end) of the sequence; empty when they are equal.
struct KeyRange {
  std::int64_t first = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const { return end - first; }
  [[nodiscard]] bool contains(std::int64_t key) const { return key >= first && key < end; }
};

[[nodiscard]] Mask mask_of(const Problem& problem);

/// The keys that a query sees: none after its own position when causal, and only keys less than
/// `window` away from it when there is a window.
[[nodiscard]] KeyRange visible_keys(const Mask& mask, std::int64_t row);

/// The number of rows of all heads that see no key.
[[nodiscard]] std::int64_t rows_without_keys(const Problem& problem);

/// The sum of visible_keys().size() over all rows of one (batch, head).
[[nodiscard]] double visible_pairs(const Problem& problem);

}  // namespace fatune
