#pragma once

// Selects the kernel for a problem: checks whether a configuration can be used for it on a device,
// and remembers the selections of this thread, so that repeated calls do not choose again.

#include <array>
#include <cstdint>

#include "choose.hpp"
#include "driver.hpp"
#include "kernel_table.hpp"

namespace fatune_attention::detail {

/// A problem, its strides and a device, for which configurations are checked.
struct Request {
  Facts facts;
  const Device* device = nullptr;
  bool contiguous = false;  ///< all tensors are contiguous, in the same layout
};
Request request_for(const Problem& problem, const Tensors& tensors, const Device& device);

/// The answer for one configuration.
struct Answer {
  int kernel = -1;  ///< index in the table; -1: refused
  std::size_t workspace_bytes = 0;
  const char* refusal = nullptr;  ///< null: it can be used
};
Answer ask(int configuration, const Request& request);

/// Evaluates the model of a configuration's time, whether or not it can be used. Returns whether
/// its family has one.
bool find_time(int configuration, const Request& request, ModelTime& time);

/// Everything that a selection depends on. candidates: as attention_forward() has them
using MemoKey = std::array<std::int64_t, 36>;
MemoKey memo_key(const Problem& problem, const Tensors& tensors, int device_ordinal,
                 int candidates);

/// What problems have in common whose kernels are tried together: with few queries, nearly as many
/// keys, so that a cache that grows has no trial for each length; and layouts in place of strides,
/// which follow from the keys. A problem with many queries has memo_key() alone.
MemoKey trial_key(const Problem& problem, const Tensors& tensors, const Request& request,
                  int device_ordinal, int candidates);

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

/// A selection, and others whose predicted times are nearly as short.
struct Selections {
  static constexpr int kMost = FastestPredicted::kMost;

  std::array<Selection, kMost> items;  ///< what is selected first
  int count = 1;

  [[nodiscard]] std::size_t most_workspace_bytes() const;
  /// Makes them those of another problem, or only the one with number `only`, unless it is -1.
  /// Returns false, and changes nothing, if one of these cannot be used for it.
  bool change_to(const Problem& problem, const Request& request, int only);
};

/// Precondition: the arguments are valid. most: 1 to Selections::kMost
Selections selections_for(const Problem& problem, const Request& request, int most);

}  // namespace fatune_attention::detail
