#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/block_tiles.hpp"
#include "attention/problem.hpp"

namespace fatune {

/// Attention of one (batch, head), and how a kernel cuts it: into blocks of query rows, each of
/// which goes through tiles of keys, one tile a step. Rows and keys are positions in their
/// sequences; both are padded to whole tiles. Intermediates (src/debug) exist only if both
/// sequences have the same length and both head dimensions are equal.
struct HeadProblem {
  std::int64_t seq_len = 0;
  std::int64_t d_head = 0;
  DType dtype = DType::fp16;
  bool causal = false;
  BlockTiles tiles;
  std::int64_t seq_len_kv = seq_len;  ///< not updated if seq_len is set later
  std::int64_t d_head_v = d_head;     ///< not updated if d_head is set later

  [[nodiscard]] std::int64_t q_blocks() const;
  [[nodiscard]] std::int64_t kv_tiles() const;
  [[nodiscard]] std::int64_t rows() const { return q_blocks() * tiles.query_rows; }
  [[nodiscard]] std::int64_t keys() const { return kv_tiles() * tiles.keys_per_step; }

  /// The steps of a block. A causal block skips the tiles that none of its queries sees.
  [[nodiscard]] std::int64_t steps(std::int64_t q_block) const;
  [[nodiscard]] std::int64_t tile_of(std::int64_t q_block, std::int64_t step) const;
  [[nodiscard]] bool is_masked(std::int64_t row, std::int64_t key) const {
    return key >= seq_len || (causal && key > row);
  }
  /// log2(e) times the usual softmax scale. A product of Q and K times this is an exponent of two.
  [[nodiscard]] double scale_log2() const;

  /// The head as a problem of batch 1 with one head.
  [[nodiscard]] Problem problem() const { return {1, seq_len, 1, d_head, dtype, causal}; }
};

}  // namespace fatune
