#include "facts.hpp"

#include <cmath>

namespace fatune_attention::detail {
namespace {

/// A product that wraps. Extents that are out of range are refused later (argument_checks.hpp).
std::int64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

double number(std::int64_t value) { return static_cast<double>(value); }

void add_problem(const Problem& problem, Facts& facts) {
  facts.batch = number(problem.batch);
  facts.seq_len = number(problem.seq_len);
  facts.heads = number(problem.heads);
  facts.causal = problem.causal ? 1.0 : 0.0;
  facts.dtype = static_cast<double>(problem.dtype);
  facts.d_head = number(problem.d_head);
  facts.seq_len_kv = number(problem.seq_len_kv);
  facts.has_seq_lens_kv = problem.has_seq_lens_kv ? 1.0 : 0.0;
  facts.keys_total = number(product(problem.batch, problem.seq_len_kv));
  facts.kv_heads = number(problem.kv_heads);
  facts.d_head_v = number(problem.d_head_v);
  facts.window = number(problem.window);
  facts.softmax_scale = static_cast<double>(softmax_scale_of(problem));
  facts.lse = problem.lse ? 1.0 : 0.0;
}

void add_strides(const Problem& problem, const Tensors& tensors, Facts& facts) {
  const auto shaped = shaped_tensors(problem, tensors);
  const bool bhsd = is_layout_bhsd(shaped);
  facts.layout_bhsd = bhsd ? 1.0 : 0.0;
  const auto add = [bhsd](const ShapedTensor& of, double& row, double& head, double& batch) {
    const Tensor tensor = with_plain_strides(of, bhsd);
    row = number(tensor.row_stride);
    head = number(tensor.head_stride);
    batch = number(tensor.batch_stride);
  };
  add(shaped[0], facts.q_row_stride, facts.q_head_stride, facts.q_batch_stride);
  add(shaped[1], facts.k_row_stride, facts.k_head_stride, facts.k_batch_stride);
  add(shaped[2], facts.v_row_stride, facts.v_head_stride, facts.v_batch_stride);
  add(shaped[3], facts.o_row_stride, facts.o_head_stride, facts.o_batch_stride);
}

void add_device(const Device& device, Facts& facts) {
  facts.arch = device.arch;
  facts.sm_count = device.sm_count;
  facts.smem_per_sm_bytes = number(device.smem_per_sm_bytes);
  facts.smem_per_block_optin_bytes = number(device.smem_per_block_optin_bytes);
  facts.registers_per_sm = device.registers_per_sm;
  facts.max_threads_per_sm = device.max_threads_per_sm;
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

float softmax_scale_of(const Problem& problem) {
  return problem.softmax_scale > 0.0F ? problem.softmax_scale
                                      : 1.0F / std::sqrt(static_cast<float>(problem.d_head));
}

Facts facts_of(const Problem& problem, const Tensors& tensors, const Device& device) {
  Facts facts;
  add_problem(problem, facts);
  add_strides(problem, tensors, facts);
  add_device(device, facts);
  return facts;
}

}  // namespace fatune_attention::detail
