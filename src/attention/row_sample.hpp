#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

/// The output rows that are compared with references, the same number for each (batch, head).
struct RowSample {
  std::int64_t rows_per_head = 0;
  /// [batch * heads, rows_per_head]: positions in the sequence, ascending within each head.
  std::vector<std::int32_t> rows;
  bool all_rows = false;
};

/// All tile heights in use divide this number, so a residue modulo it is a position within every
/// tile.
inline constexpr std::int64_t kTilePositions = 256;
/// Up to this many rows (batch * heads * seq_len), all are compared, unless kAllScoresLimit is
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
/// at the position that the row's residue gives, so the residues cover the diagonals too.
[[nodiscard]] RowSample sample_rows(const Problem& problem, std::uint64_t seed);

/// "all rows", "8192 of 1048576 rows".
[[nodiscard]] std::string describe_rows(const Problem& problem);

}  // namespace fatune
