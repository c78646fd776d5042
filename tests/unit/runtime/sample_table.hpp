#pragma once

#include "runtime/attention.hpp"

namespace fatune_attention {

// A library of four configurations, for tests. See sample_table.cpp.

inline constexpr int kTma = 0;     ///< sm_90a; any strides; lengths; a cluster, a map, a workspace
inline constexpr int kPlain = 1;   ///< sm_80 and newer; contiguous tensors; standard arguments
inline constexpr int kGreedy = 2;  ///< like kPlain, but needs more shared memory than an H200 has
inline constexpr int kOther =
    3;  ///< like kPlain, with a workspace, for FP16; not for 1023, 2047, ... keys

/// The argument of kTma that follows its tensor map of Q.
struct TmaWork {
  void* counter;
  void* parts;
  int seq_len;
  float scale;
  const std::int32_t* seq_lens_kv;
};

/// The problem that is tuned for an H200. kGreedy is its winner, followed by kTma and kPlain.
Problem tuned_problem();
/// A problem whose time is predicted, of kPlain and, 5 % longer, of kOther.
Problem predicted_problem();
/// The H200 that the fake driver reports.
Device fake_h200();

}  // namespace fatune_attention
