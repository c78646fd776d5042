// A call of an operator, and its translation from PyTorch's tensors to the library's.
#pragma once

#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <optional>

#include "attention.hpp"

namespace fatune_attention::torch_binding {

using TorchTensor = torch::stable::Tensor;

/// The operands (batch, heads, rows, d), and which keys a query sees, with the meaning that Problem
/// describes.
struct Call {
  const TorchTensor& q;
  const TorchTensor& k;
  const TorchTensor& v;
  bool causal;
  std::int64_t window;
  std::optional<double> scale;  ///< nullopt: 1 / sqrt(d)
  bool lse;
  bool allow_untuned;  ///< run a kernel even if no tuned problem is like the call
  /// (batch) of int32: the numbers of keys, as Problem::has_seq_lens_kv describes them.
  const std::optional<TorchTensor>& seq_lens_kv;
  double softcap;                           ///< 0: scores are not capped
  const std::optional<TorchTensor>& sinks;  ///< (heads) of float32, as Tensors::sinks
  /// (batch, pages of a sequence) of int32, as Tensors::page_table. k and v are then pools (pages,
  /// heads, keys of a page, d).
  const std::optional<TorchTensor>& page_table;
  /// (sequences + 1) of int32, as Tensors has them. Both or neither; q, and k and v unless they are
  /// in pages, are then one batch.
  const std::optional<TorchTensor>& cu_seqlens_q;
  const std::optional<TorchTensor>& cu_seqlens_kv;
  std::int64_t max_seqlen_q;   ///< of a packed call: the most queries of a sequence
  std::int64_t max_seqlen_kv;  ///< of a packed call: the most keys of a sequence
  /// Scales of k and v of 8 bits, of float32: (1), (heads), (batch, rows, heads) of k or, of pools,
  /// (pages, heads). Both or neither.
  const std::optional<TorchTensor>& k_descale;
  const std::optional<TorchTensor>& v_descale;
  std::int64_t candidates;  ///< as attention_forward() has them

  bool is_packed() const { return cu_seqlens_q.has_value(); }
};

/// Throws std::runtime_error unless the operands have four dimensions, fit each other, and are on
/// one CUDA device, with the arrays, which have an element for each sequence, head or page. The
/// values of lengths, tables and first rows are not looked at.
void check_operands(const Call& call);

/// Returns why the library cannot be asked for the call although PyTorch's own attention can, or
/// nullptr if it can.
const char* refusal(const Call& call);

Problem problem_of(const Call& call);

/// An empty tensor for O. It is dense, and its dimensions have q's order in memory, like results of
/// PyTorch's own attention.
TorchTensor empty_output(const Call& call);

/// An empty tensor (batch, heads, rows) of float32.
TorchTensor empty_lse(const Call& call);

/// An empty tensor of bytes on a device.
TorchTensor empty_bytes(std::int64_t bytes, std::int32_t device_index);

/// `lse` may be null.
Tensors tensors_of(const Call& call, const TorchTensor& o, const TorchTensor* lse);

}  // namespace fatune_attention::torch_binding
