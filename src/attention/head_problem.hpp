#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/block_tiles.hpp"
#include "attention/problem.hpp"

namespace fatune {

/// Attention of one (batch, head), and how a kernel cuts it: blocks of query rows, each of which
/// goes through tiles of keys, a step each. Rows and keys are positions in their sequences; both
/// are padded to whole tiles. Intermediates (src/debug) are there only where both sequences are of
/// one length, and both head dimensions equal.
struct HeadProblem {
  std::int64_t seq_len = 0;
  std::int64_t d_head = 0;
  DType dtype = DType::fp16;
  bool causal = false;
  BlockTiles tiles;
  std::int64_t seq_len_kv = seq_len;  ///< stays as it is when seq_len is set later
  std::int64_t d_head_v = d_head;     ///< the same

  [[nodiscard]] std::int64_t q_blocks() const;
  [[nodiscard]] std::int64_t kv_tiles() const;
  [[nodiscard]] std::int64_t rows() const { return q_blocks() * tiles.query_rows; }
  [[nodiscard]] std::int64_t keys() const { return kv_tiles() * tiles.keys_per_step; }

  /// A causal block does not visit the tiles that none of its queries sees.
  [[nodiscard]] std::int64_t steps(std::int64_t q_block) const;
  [[nodiscard]] std::int64_t tile_of(std::int64_t q_block, std::int64_t step) const;
  [[nodiscard]] bool is_masked(std::int64_t row, std::int64_t key) const {
    return key >= seq_len || (causal && key > row);
  }
  /// log2(e) times the usual softmax scale: a product of Q and K times this is an exponent of two.
  [[nodiscard]] double scale_log2() const;

  /// The whole as a problem of batch 1 with one head.
  [[nodiscard]] Problem problem() const { return {1, seq_len, 1, d_head, dtype, causal}; }
};

}  // namespace fatune
