#pragma once

#include <cstdint>

#include "model/kv_lengths.hpp"
#include "model/problem.hpp"

// Three ways to count the FLOP of a problem. `pairs` is the number of (query, key) pairs that the
// mask leaves.

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

/// The mask of one of the problem's sequences. Its rows and keys are counted from its first ones.
[[nodiscard]] inline Mask mask_of(const Problem& problem, const Sequence& sequence) {
  return {sequence.queries, sequence.keys, problem.causal, problem.window};
}

/// The keys that a query sees: none after its own position when causal, and only keys less than
/// `window` away from it when there is a window.
[[nodiscard]] KeyRange visible_keys(const Mask& mask, std::int64_t row);

/// The keys that a row of Q of this sequence sees, as rows of K. `row`: of the tensor.
[[nodiscard]] KeyRange visible_rows(const Problem& problem, const Sequence& sequence,
                                    std::int64_t row);

/// The number of rows of all heads that see no key.
[[nodiscard]] std::int64_t rows_without_keys(const Problem& problem);

/// The sum of visible_keys().size() over all rows of all sequences, of one head.
[[nodiscard]] double visible_pairs(const Problem& problem);

/// The least FLOP of attention: two products over the pairs, 2 * pairs * (d_head + d_head_v).
[[nodiscard]] double needed_flop(const Problem& problem);
/// A count that leaves no pair out and includes the softmax, 6 per score: batch * heads * (2 *
/// seq_len * seq_len_kv * (d_head + d_head_v) + 6 * seq_len * seq_len_kv), where seq_len and
/// seq_len_kv are each sequence's own numbers of queries and keys.
[[nodiscard]] double attention_flop(const Problem& problem);
/// The FLOP that published TFLOP/s figures use; rankings use it too. It equals needed_flop(), but
/// counts half of all pairs if a causal problem has as many queries as keys and no window, and no
/// lengths differ within the batch.
[[nodiscard]] double literature_flop(const Problem& problem);

/// Converts FLOP per microsecond to TFLOP/s.
inline constexpr double kFlopPerUsToTflops = 1e-6;

/// Converts bytes per microsecond to 10^9 bytes per second.
inline constexpr double kBytesPerUsToGbps = 1e-3;

// The least bytes that attention moves through device memory.

/// The bytes of Q, K and V that must be read once. Keys that no query sees need not be read, nor
/// the room behind a sequence's keys.
[[nodiscard]] std::int64_t needed_input_bytes(const Problem& problem);
/// The bytes of O, and of the log-sum-exps if they are wanted, which must be written once.
[[nodiscard]] std::int64_t needed_output_bytes(const Problem& problem);
/// needed_input_bytes() and needed_output_bytes().
[[nodiscard]] inline double needed_bytes(const Problem& problem) {
  return static_cast<double>(needed_input_bytes(problem) + needed_output_bytes(problem));
}

}  // namespace fatune
