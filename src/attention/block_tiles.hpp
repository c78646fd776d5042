#pragma once

#include <cstdint>

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
};

}  // namespace fatune
