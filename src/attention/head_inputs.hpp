#pragma once

#include <cstdint>
#include <vector>

#include "attention/head_problem.hpp"
#include "attention/init_kind.hpp"

namespace fatune {

/// Elements of the head's dtype. shape: each (seq_len, d_head)
struct HeadInputs {
  std::vector<std::uint16_t> q;
  std::vector<std::uint16_t> k;
  std::vector<std::uint16_t> v;
};

/// `seed` decides random, large_logits, dominating_key and onehot: there Q and K have their 1 in
/// the same column, K and V in the same row, and the query sees that key.
[[nodiscard]] HeadInputs make_head_inputs(const HeadProblem& head, InitKind kind,
                                          std::uint64_t seed);

}  // namespace fatune
