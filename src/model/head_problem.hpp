#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/members.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// The order in which a thread block goes through the tiles of keys that its queries see.
enum class StepOrder { first_to_last, last_to_first };

/// How a kernel cuts one head into blocks and steps, for debugging.
struct BlockTiles {
  std::int64_t query_rows = 64;     ///< query rows of a thread block
  std::int64_t keys_per_step = 64;  ///< keys of one step
  StepOrder order = StepOrder::first_to_last;
  /// How far M may lag behind a row's greatest score, in powers of two.
  double reference_slack_log2 = 0.0;
  /// Tiles of keys of a part. M, L and O begin anew with each part, and parts are combined at the
  /// end. 0: all tiles are one part.
  std::int64_t steps_per_part = 0;
};

/// Attention of one (batch, head), and how a kernel cuts it: into blocks of query rows, each of
/// which goes through tiles of keys, one tile a step. Rows and keys are positions in their
/// sequences; both are padded to whole tiles. The last query stands at the last key. Intermediates
/// (src/proof) exist only if every query sees a key.
struct HeadProblem {
  std::int64_t seq_len = 0;
  std::int64_t d_head = 0;
  DType dtype = DType::fp16;
  bool causal = false;
  BlockTiles tiles;
  std::int64_t seq_len_kv = seq_len;  ///< not updated if seq_len is set later
  std::int64_t d_head_v = d_head;     ///< not updated if d_head is set later
  bool latent = false;                ///< V is the first d_head_v columns of K

  [[nodiscard]] std::int64_t q_blocks() const;
  [[nodiscard]] std::int64_t kv_tiles() const;
  [[nodiscard]] std::int64_t rows() const { return q_blocks() * tiles.query_rows; }
  [[nodiscard]] std::int64_t keys() const { return kv_tiles() * tiles.keys_per_step; }

  /// The steps of a block. A causal block skips the tiles that none of its queries sees.
  [[nodiscard]] std::int64_t steps(std::int64_t q_block) const;
  [[nodiscard]] std::int64_t tile_of(std::int64_t q_block, std::int64_t step) const {
    return tiles.order == StepOrder::last_to_first ? steps(q_block) - 1 - step : step;
  }
  /// Whether a step is the first of its part.
  [[nodiscard]] bool begins_part(std::int64_t q_block, std::int64_t step) const {
    return step == 0 ||
           (tiles.steps_per_part > 0 && tile_of(q_block, step) / tiles.steps_per_part !=
                                            tile_of(q_block, step - 1) / tiles.steps_per_part);
  }
  [[nodiscard]] bool is_masked(std::int64_t row, std::int64_t key) const {
    return key >= seq_len_kv || (causal && key > row + seq_len_kv - seq_len);
  }
  /// log2(e) times the usual softmax scale. A product of Q and K times this is an exponent of two.
  [[nodiscard]] double scale_log2() const;

  /// The head as a problem of batch 1 with one head.
  [[nodiscard]] Problem problem() const {
    Problem one{1, seq_len, 1, d_head, dtype, causal, seq_len_kv};
    one.d_head_v = d_head_v;
    one.latent = latent;
    return one;
  }
};

/// Extents of the intermediates that a kernel writes (kernels/common/attention_dump.h).
struct DumpExtents {
  std::int64_t rows = 0;      ///< query rows, padded to whole tiles
  std::int64_t keys = 0;      ///< padded to whole tiles
  std::int64_t kv_tiles = 0;  ///< steps, if every tile is visited

  /// The size of S, P, M, L and O together, in fp32 values. Precondition: d_head_v is the
  /// problem's.
  [[nodiscard]] std::int64_t values(std::int64_t d_head_v) const {
    return 2 * rows * keys + kv_tiles * rows * (2 + d_head_v);
  }
};

/// One launch of one kernel on inputs that the caller has made.
struct DebugRequest {
  std::string label;  ///< the configuration's short form, for messages
  Problem problem;    ///< batch 1, one head
  Artifact artifact;  ///< its name, and machine code or, for the emulator, PTX
  LaunchGeometry geometry;
  std::optional<DumpExtents> dump;  ///< present: the arguments have it too (add_dump())
  std::vector<std::uint16_t> q;     ///< [seq_len, d_head] elements
  std::vector<std::uint16_t> k;     ///< [seq_len_kv, d_head] elements
  std::vector<std::uint16_t> v;     ///< [seq_len_kv, d_head_v] elements; latent: none
};
FATUNE_DESCRIBED(DebugRequest, (label), (problem), (artifact, kElsewhere), (geometry), (dump),
                 (q, kElsewhere), (k, kElsewhere), (v, kElsewhere))

/// The values that the kernel wrote; NaN where it wrote nothing.
struct DebugRun {
  std::vector<std::uint16_t> output;  ///< [seq_len, d_head_v] elements
  std::vector<float> dump;            ///< S, P, M, L, O one after the other; empty: not requested
};

/// A run or, in its place, Unlaunchable, Crashed or TimedOut.
using DebugResult = std::variant<DebugRun, Outcome>;

/// The shape of an output with a value for each row: (batch, heads, seq_len), of a packed problem
/// (heads, all rows).
[[nodiscard]] std::vector<std::int64_t> row_value_shape(const Problem& problem);
/// The buffer for the log-sum-exps of kernels that are passed "lse": fp32, row_value_shape().
[[nodiscard]] KernelBuffer log_sum_exp_buffer(const Problem& problem);

/// The tensor that dumps are written to.
inline constexpr const char* kDumpTensor = "dump";

/// Extends the arguments to those of a kernel that dumps its intermediates. Standard arguments
/// become an AttentionForwardDumpArgs (kernels/common/attention_dump.h); others get an
/// AttentionDump as a further argument.
void add_dump(const DumpExtents& extents, KernelArguments& arguments);

}  // namespace fatune
