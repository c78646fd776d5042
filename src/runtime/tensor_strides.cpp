#include "tensor_strides.hpp"

namespace fatune_attention::detail {
namespace {

/// A product that wraps. Extents that are out of range are refused later (argument_checks.hpp).
std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

}  // namespace

std::array<Extents, 4> extents_of(const Problem& problem) {
  const Problem& p = problem;
  return {{{p.batch, p.heads, p.seq_len, p.d_head},
           {p.batch, p.kv_heads, p.seq_len_kv, p.d_head},
           {p.batch, p.kv_heads, p.seq_len_kv, p.d_head_v},
           {p.batch, p.heads, p.seq_len, p.d_head_v}}};
}

std::array<ShapedTensor, 4> shaped_tensors(const Problem& problem, const Tensors& tensors) {
  const auto extents = extents_of(problem);
  return {{{&tensors.q, extents[0]},
           {&tensors.k, extents[1]},
           {&tensors.v, extents[2]},
           {&tensors.o, extents[3]}}};
}

Tensor contiguous_tensor(const Extents& extents, bool layout_bhsd) {
  const std::int64_t rows_of_head = product(extents.rows, extents.d);
  const std::int64_t heads_of_row = product(extents.heads, extents.d);
  const std::int64_t batch_stride = product(extents.heads, rows_of_head);
  return layout_bhsd ? Tensor{nullptr, batch_stride, rows_of_head, extents.d}
                     : Tensor{nullptr, batch_stride, extents.d, heads_of_row};
}

Tensors usual_tensors(const Problem& problem) {
  const auto [q, k, v, o] = extents_of(problem);
  return {contiguous_tensor(q, false), contiguous_tensor(k, false), contiguous_tensor(v, false),
          contiguous_tensor(o, false), nullptr};
}

bool is_layout_bhsd(const std::array<ShapedTensor, 4>& tensors) {
  for (const ShapedTensor& shaped : tensors) {
    if (shaped.extents.heads > 1 && shaped.extents.rows > 1) {
      return shaped.tensor->head_stride > shaped.tensor->row_stride;
    }
  }
  return false;
}

Tensor with_plain_strides(const ShapedTensor& shaped, bool layout_bhsd) {
  const Tensor plain = contiguous_tensor(shaped.extents, layout_bhsd);
  const Tensor& given = *shaped.tensor;
  return {given.data, shaped.extents.batch > 1 ? given.batch_stride : plain.batch_stride,
          shaped.extents.heads > 1 ? given.head_stride : plain.head_stride,
          shaped.extents.rows > 1 ? given.row_stride : plain.row_stride};
}

bool is_contiguous(const ShapedTensor& shaped, bool layout_bhsd) {
  const Tensor plain = contiguous_tensor(shaped.extents, layout_bhsd);
  const Tensor given = with_plain_strides(shaped, layout_bhsd);
  return given.batch_stride == plain.batch_stride && given.head_stride == plain.head_stride &&
         given.row_stride == plain.row_stride;
}

}  // namespace fatune_attention::detail
