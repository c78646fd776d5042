#pragma once

#include <cstdint>

#include "attention/problem.hpp"

// Three ways to count the FLOP of a problem. `pairs` is the number of (query, key) pairs that the
// mask leaves.
namespace fatune {

/// The least FLOP of attention: two products over the pairs, 2 * pairs * (d_head + d_head_v).
[[nodiscard]] double needed_flop(const Problem& problem);
/// A count that leaves no pair out and includes the softmax, 6 per score: batch * heads * (2 *
/// seq_len * seq_len_kv * (d_head + d_head_v) + 6 * seq_len * seq_len_kv).
[[nodiscard]] double attention_flop(const Problem& problem);
/// The FLOP that published TFLOP/s figures use; rankings use it too. It equals needed_flop(), but
/// counts half of all pairs if a causal problem has as many queries as keys and no window.
[[nodiscard]] double literature_flop(const Problem& problem);

/// Converts FLOP per microsecond to TFLOP/s.
inline constexpr double kFlopPerUsToTflops = 1e-6;

// The least bytes that attention moves through device memory.

/// The bytes of Q, K and V that must be read once. Keys that no query sees need not be read.
[[nodiscard]] std::int64_t needed_input_bytes(const Problem& problem);
/// needed_input_bytes(), and the bytes of O, which must be written once.
[[nodiscard]] double needed_bytes(const Problem& problem);

}  // namespace fatune
