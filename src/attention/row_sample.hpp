#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/problem.hpp"

namespace fatune {

/// Output rows that are compared with references: the same number for each (batch, head).
struct RowSample {
  std::int64_t rows_per_head = 0;
  /// [batch * heads, rows_per_head]: positions in the sequence, ascending within each head.
  std::vector<std::int32_t> rows;
  bool all_rows = false;
};

/// Tile heights in use divide this, so that a residue modulo it is a position within every tile.
inline constexpr std::int64_t kTilePositions = 256;
/// Up to this many rows (batch * heads * seq_len), all are compared ...
inline constexpr std::int64_t kAllRowsLimit = 65536;
/// ... unless their references take more than this many scores (rows * seq_len_kv): at d_head 128,
/// 0.07 TFLOP in plain fp32.
inline constexpr std::int64_t kAllScoresLimit = std::int64_t{1} << 26;
/// About how many are compared of more. A power of two, so that the heads' shares fill the
/// reference kernel's blocks where the number of heads is one too.
inline constexpr std::int64_t kSampledRows = 8192;

/// How many rows sample_rows() takes from each head.
[[nodiscard]] std::int64_t sampled_rows_per_head(const Problem& problem);

/// All rows, or a seeded sample that has, over the whole problem, every residue modulo
/// kTilePositions (every position in every tile), from every head its first and last row, and from
/// every head rows spread evenly over the sequence. Each causal row has its own diagonal element in
/// some tile, at the position that its residue says, so residues hit the diagonals too.
[[nodiscard]] RowSample sample_rows(const Problem& problem, std::uint64_t seed);

/// "all rows", "8192 of 1048576 rows".
[[nodiscard]] std::string describe_rows(const Problem& problem);

}  // namespace fatune
