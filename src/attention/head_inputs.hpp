#pragma once

#include <cstdint>
#include <vector>

#include "attention/head_problem.hpp"
#include "attention/input_kind.hpp"

namespace fatune {

/// Elements of the head's dtype. shape: q (seq_len, d_head), k (seq_len_kv, d_head), v (seq_len_kv,
/// d_head_v)
struct HeadInputs {
  std::vector<std::uint16_t> q;
  std::vector<std::uint16_t> k;
  std::vector<std::uint16_t> v;
};

/// Makes the inputs of one head. `seed` decides all kinds except range, identity and constant. With
/// onehot, Q and K have their 1 in the same column, K and V in the same row, and the query sees
/// that key.
[[nodiscard]] HeadInputs make_head_inputs(const HeadProblem& head, InputKind kind,
                                          std::uint64_t seed);

/// The inputs of the query heads that share a key head.
struct GroupInputs {
  std::vector<std::vector<std::uint16_t>> q;  ///< one for each query head
  std::vector<std::uint16_t> k;
  std::vector<std::uint16_t> v;
};
/// Makes the inputs of a group. A group of one has the inputs of make_head_inputs().
[[nodiscard]] GroupInputs make_group_inputs(const HeadProblem& head, std::int64_t group,
                                            InputKind kind, std::uint64_t seed);

}  // namespace fatune
