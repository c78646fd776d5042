#include "selection_memo.hpp"

#include <cstring>

namespace fatune_attention::detail {
namespace {

std::int64_t bits_of(float value) {
  std::int32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

MemoKey memo_key(const Problem& problem, const Tensors& tensors, int device_ordinal) {
  const Problem& p = problem;
  const Tensors& t = tensors;
  return {p.batch,          p.heads,        p.kv_heads,
          p.seq_len,        p.seq_len_kv,   p.d_head,
          p.d_head_v,       p.window,       static_cast<std::int64_t>(p.dtype),
          p.causal,         p.lse,          bits_of(p.softmax_scale),
          device_ordinal,   t.q.row_stride, t.q.head_stride,
          t.q.batch_stride, t.k.row_stride, t.k.head_stride,
          t.k.batch_stride, t.v.row_stride, t.v.head_stride,
          t.v.batch_stride, t.o.row_stride, t.o.head_stride,
          t.o.batch_stride};
}

const Selection* SelectionMemo::find(const MemoKey& key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) {
      return &entry.selection;
    }
  }
  return nullptr;
}

const Selection& SelectionMemo::add(const MemoKey& key, const Selection& selection) {
  Entry& oldest = entries_[next_];
  next_ = (next_ + 1) % kMost;
  oldest.key = key;
  oldest.selection = selection;
  return oldest.selection;
}

SelectionMemo& selection_memo() {
  thread_local SelectionMemo memo;
  return memo;
}

}  // namespace fatune_attention::detail
