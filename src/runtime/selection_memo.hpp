// Remembers the selections of this thread, so that repeated calls do not choose again.
#pragma once

#include <array>
#include <cstdint>

#include "devices.hpp"

namespace fatune_attention::detail {

/// Everything that a selection depends on.
using MemoKey = std::array<std::int64_t, 25>;
MemoKey memo_key(const Problem& problem, const Tensors& tensors, int device_ordinal);

/// The last few selections of a thread.
class SelectionMemo {
 public:
  /// Returns null if the key is unknown. The result is valid until the next add().
  const Selection* find(const MemoKey& key) const;
  /// Replaces the oldest selection.
  const Selection& add(const MemoKey& key, const Selection& selection);

 private:
  static constexpr int kMost = 8;
  struct Entry {
    MemoKey key = {};  ///< all 0: unused, since no problem has a batch of 0
    Selection selection;
  };
  Entry entries_[kMost];
  int next_ = 0;
};

/// The memo of the calling thread.
SelectionMemo& selection_memo();

}  // namespace fatune_attention::detail
