#include "tensor_strides.hpp"

namespace fatune_attention::detail {

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
  const std::int64_t batch_stride = extents.heads * extents.rows * extents.d;
  return layout_bhsd ? Tensor{nullptr, batch_stride, extents.rows * extents.d, extents.d}
                     : Tensor{nullptr, batch_stride, extents.d, extents.heads * extents.d};
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
