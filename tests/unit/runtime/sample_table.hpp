#pragma once

#include "runtime/attention.hpp"

namespace fatune_attention {

// A library of three configurations, for tests. See sample_table.cpp.

inline constexpr int kTma = 0;     ///< sm_90a; any strides; a cluster, a map, a workspace
inline constexpr int kPlain = 1;   ///< sm_80 and newer; contiguous tensors; standard arguments
inline constexpr int kGreedy = 2;  ///< as kPlain, but needs more shared memory than there is

/// What kTma takes behind its map of Q.
struct TmaWork {
  void* counter;
  void* parts;
  int seq_len;
  float scale;
};

/// Tuned for an H200: kGreedy is its winner, then kTma, then kPlain.
Problem tuned_problem();
/// An H200, as the fake driver has it.
Device fake_h200();

}  // namespace fatune_attention
