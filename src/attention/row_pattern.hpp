#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/outcome.hpp"

namespace fatune {

/// Positions in the sequence, both included.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const RowRange&) const = default;
};

/// One position of the sequence, over all (batch, head).
struct PositionCounts {
  std::int64_t row = 0;
  std::int64_t rows_compared = 0;    ///< in so many (batch, head)
  std::int64_t rows_mismatched = 0;  ///< those with a mismatched element
  std::int64_t rows_beyond_limit = 0;
  std::int64_t mismatched = 0;  ///< elements
  std::int64_t beyond_limit = 0;
};

/// One row of the output.
struct RowFinding {
  std::int64_t head = 0;  ///< batch * heads + head
  std::int64_t row = 0;
  std::int64_t mismatched = 0;  ///< elements
  std::int64_t beyond_limit = 0;
};

/// The places of wrong rows, which have an element beyond the limit.
struct RowPattern {
  std::int64_t rows = 0;  ///< compared
  std::int64_t rows_mismatched = 0;
  std::int64_t rows_beyond_limit = 0;
  std::int64_t heads = 0;  ///< (batch, head) pairs
  std::int64_t heads_beyond_limit = 0;
  /// Positions that are wrong in some head. Those between them that were not compared are let in.
  std::vector<RowRange> ranges;
  /// The smallest tile height (8 to 256) by which the wrong rows repeat: some positions within such
  /// a tile are never wrong, and all others at least three times of four. 0: there is none.
  std::int64_t period = 0;
  std::vector<RowRange> period_ranges;  ///< the wrong positions within a tile of that height
};

/// Finds the pattern in rows that a worker sent; invalid items are left out.
[[nodiscard]] RowPattern find_row_pattern(const RowMismatches& rows);
/// By position, ascending.
[[nodiscard]] std::vector<PositionCounts> count_by_position(const RowMismatches& rows);
/// The `count` rows with the most elements beyond the limit, then the most mismatched; none without
/// a mismatch.
[[nodiscard]] std::vector<RowFinding> worst_rows(const RowMismatches& rows, std::size_t count);

/// "0-62, 64-126", at most `most` of them and then "...".
[[nodiscard]] std::string describe(const std::vector<RowRange>& ranges, std::size_t most);
/// "126 of 1024 rows beyond the limit, in 2 of 2 heads: rows 0-62, 64-126; of every 64 rows: 0-62".
[[nodiscard]] std::string describe(const RowPattern& pattern);

}  // namespace fatune
