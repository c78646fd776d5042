#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// The output rows that are compared with references, the same number for each (batch, head), or of
/// a packed problem for each head.
struct RowSample {
  std::int64_t rows_per_head = 0;
  /// [output_heads(), rows_per_head]: rows of the tensor, ascending within each head.
  std::vector<std::int32_t> rows;
  bool all_rows = false;
};

/// All tile heights in use divide this number, so a residue modulo it is a position within every
/// tile.
inline constexpr std::int64_t kTilePositions = 256;
/// Up to this many rows (output_rows()), all are compared, unless kAllScoresLimit is
/// exceeded.
inline constexpr std::int64_t kAllRowsLimit = 65536;
/// The most scores (rows * seq_len_kv) that references may take if all rows are compared: 0.07
/// TFLOP in plain fp32 at d_head 128.
inline constexpr std::int64_t kAllScoresLimit = std::int64_t{1} << 26;
/// The approximate number of rows compared otherwise. It is a power of two, so that each head's
/// share fills the reference kernel's blocks if the number of heads is a power of two too.
inline constexpr std::int64_t kSampledRows = 8192;

/// How many rows sample_rows() takes from each head.
[[nodiscard]] std::int64_t sampled_rows_per_head(const Problem& problem);

/// All rows, or a seeded sample. Over the whole problem the sample has every residue modulo
/// kTilePositions (every position in a tile). From every head it has the first and the last row,
/// and rows spread evenly over the sequence. The diagonal element of a causal row is in some tile
/// at the position that the row's residue gives, so the residues cover the diagonals too. Of a
/// packed problem, half of a head's other rows are first and last rows of sequences, of which each
/// head goes on with others.
[[nodiscard]] RowSample sample_rows(const Problem& problem, std::uint64_t seed);

/// "all rows", "8192 of 1048576 rows".
[[nodiscard]] std::string describe_rows(const Problem& problem);

/// A range of positions in the sequence, both ends included.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  bool operator==(const RowRange&) const = default;
};

/// Counts for one position of the sequence, over all (batch, head).
struct PositionCounts {
  std::int64_t row = 0;
  std::int64_t rows_compared = 0;    ///< (batch, head) pairs in which it was compared
  std::int64_t rows_mismatched = 0;  ///< rows with a mismatched element
  std::int64_t rows_beyond_limit = 0;
  std::int64_t mismatched = 0;  ///< elements
  std::int64_t beyond_limit = 0;
};

/// Counts for one row of the output.
struct RowFinding {
  std::int64_t head = 0;  ///< batch * heads + head
  std::int64_t row = 0;
  std::int64_t mismatched = 0;  ///< elements
  std::int64_t beyond_limit = 0;
};

/// Where the wrong rows are. A row is wrong if it has an element beyond the limit.
struct RowPattern {
  std::int64_t rows = 0;  ///< compared
  std::int64_t rows_mismatched = 0;
  std::int64_t rows_beyond_limit = 0;
  std::int64_t heads = 0;  ///< (batch, head) pairs
  std::int64_t heads_beyond_limit = 0;
  /// Positions that are wrong in some head. A range includes positions within it that were not
  /// compared.
  std::vector<RowRange> ranges;
  /// The smallest tile height (8 to 256) with which the wrong rows repeat: some positions within
  /// such a tile are never wrong, and all others are wrong in at least three rows of four. 0: there
  /// is none.
  std::int64_t period = 0;
  std::vector<RowRange> period_ranges;  ///< the wrong positions within a tile of that height
};

/// Finds the pattern in rows that a worker sent; invalid items are left out.
[[nodiscard]] RowPattern find_row_pattern(const RowMismatches& rows);
/// Counts mismatches for each position. The result is ordered by position, ascending.
[[nodiscard]] std::vector<PositionCounts> count_by_position(const RowMismatches& rows);
/// The rows with the most elements beyond the limit, then with the most mismatched ones; `count` at
/// most. Rows without a wrong element are left out.
[[nodiscard]] std::vector<RowFinding> worst_rows(const RowMismatches& rows, std::size_t count);

/// "0-62, 64-126". After `most` ranges "..." replaces the others.
[[nodiscard]] std::string describe(const std::vector<RowRange>& ranges, std::size_t most);
/// "126 of 1024 rows beyond the limit, in 2 of 2 heads: rows 0-62, 64-126; of every 64 rows: 0-62".
[[nodiscard]] std::string describe(const RowPattern& pattern);

}  // namespace fatune
