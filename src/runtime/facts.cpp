#include "facts.hpp"

#include <cmath>

namespace fatune_attention::detail {
namespace {

/// A product that wraps. Extents that are out of range are refused later.
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
  facts.kv_dtype = has_scales(problem) ? static_cast<double>(problem.kv_dtype) : facts.dtype;
  facts.kv_scales = static_cast<double>(problem.kv_scales);
  facts.d_head = number(problem.d_head);
  facts.seq_len_kv = number(problem.seq_len_kv);
  facts.has_seq_lens_kv = problem.has_seq_lens_kv ? 1.0 : 0.0;
  facts.has_seq_lens = problem.is_packed ? 1.0 : 0.0;
  facts.keys_total =
      number(problem.is_packed ? problem.keys_total : product(problem.batch, problem.seq_len_kv));
  facts.queries_total =
      number(problem.is_packed ? problem.queries_total : product(problem.batch, problem.seq_len));
  facts.page_size = number(problem.page_size);
  facts.pool_pages = number(problem.pool_pages);
  facts.kv_heads = number(problem.kv_heads);
  facts.d_head_v = number(problem.d_head_v);
  facts.window = number(problem.window);
  facts.softmax_scale = static_cast<double>(softmax_scale_of(problem));
  facts.lse = problem.lse ? 1.0 : 0.0;
  facts.softcap = static_cast<double>(problem.softcap);
  facts.sinks = problem.has_sinks ? 1.0 : 0.0;
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

constexpr std::int64_t kAlignment = 16;                           // bytes
constexpr std::int64_t kMostStrideBytes = std::int64_t{1} << 40;  // limit of tensor maps

/// A condition, and what is wrong if it does not hold.
struct Check {
  bool holds;
  const char* otherwise;
};

template <std::size_t kCount>
const char* first_fault(const Check (&checks)[kCount]) {
  for (const Check& check : checks) {
    if (!check.holds) {
      return check.otherwise;
    }
  }
  return nullptr;
}

bool is_within(std::int64_t value, std::int64_t least, std::int64_t most) {
  return value >= least && value <= most;
}

/// Checks one stride. The stride along a single batch, head or row has no meaning and is not
/// checked.
const char* fault_of_stride(std::int64_t stride, std::int64_t extent, const ShapedTensor& of) {
  const Check checks[] = {
      {stride >= of.extents.d, "a stride is less than a row's elements"},
      {stride < kMostStrideBytes / of.element_bytes, "a stride is not below 2^40 bytes"},
      {stride % (kAlignment / of.element_bytes) == 0, "a stride is not a multiple of 16 bytes"}};
  return extent > 1 ? first_fault(checks) : nullptr;
}

const char* fault_of_tensor(const ShapedTensor& shaped) {
  const Tensor& tensor = *shaped.tensor;
  const Extents& extents = shaped.extents;
  const char* fault = fault_of_stride(tensor.batch_stride, extents.batch, shaped);
  fault = fault != nullptr ? fault : fault_of_stride(tensor.head_stride, extents.heads, shaped);
  return fault != nullptr ? fault : fault_of_stride(tensor.row_stride, extents.rows, shaped);
}

bool is_aligned(const void* address, std::uint64_t alignment) {
  return reinterpret_cast<std::uint64_t>(address) % alignment == 0;
}

/// Whether an array of 4-byte elements is there if and only if the problem has such.
bool fits(const void* array, bool is_wanted) {
  return is_wanted == (array != nullptr) && is_aligned(array, sizeof(std::int32_t));
}

const char* fault_of_arrays(const Problem& problem, const Tensors& tensors) {
  const Check checks[] = {
      {fits(tensors.sinks, problem.has_sinks),
       "sinks must be given if has_sinks of the problem is true, and only then"},
      {fits(tensors.seq_lens_kv, problem.has_seq_lens_kv),
       "seq_lens_kv must be given if has_seq_lens_kv of the problem is true, and only then"},
      {fits(tensors.page_table, problem.page_size > 0),
       "page_table must be given if page_size of the problem is not 0, and only then"},
      {fits(tensors.cu_seqlens_q, problem.is_packed) &&
           fits(tensors.cu_seqlens_kv, problem.is_packed),
       "cu_seqlens_q and cu_seqlens_kv must be given if is_packed of the problem is true, and only "
       "then"},
      {fits(tensors.k_scales, has_scales(problem)) && fits(tensors.v_scales, has_scales(problem)),
       "k_scales and v_scales must be given if kv_dtype of the problem has 8 bits, and only then"}};
  return first_fault(checks);
}

/// What is wrong with the members of Problem that describe the elements of K and V.
const char* fault_of_kv(const Problem& problem) {
  const Problem& p = problem;
  const Check checks[] = {
      {!has_scales(p) || p.kv_dtype == KvDType::e4m3 || p.kv_dtype == KvDType::e5m2,
       "kv_dtype is neither of_q, e4m3 nor e5m2"},
      {p.kv_scales >= KvScales::tensor && p.kv_scales <= KvScales::page,
       "kv_scales is neither tensor, head, token nor page"},
      {has_scales(p) || p.kv_scales == KvScales::tensor,
       "kv_scales is not tensor, but K and V have no scales: kv_dtype is of_q"},
      {p.kv_scales != KvScales::page || p.page_size > 0,
       "kv_scales is page, but K and V are not in pages"}};
  return first_fault(checks);
}

/// What is wrong with the members of Problem that describe pages, and packed sequences.
const char* fault_of_places(const Problem& problem) {
  const Problem& p = problem;
  const bool has_pages = p.page_size != 0;
  const Check checks[] = {
      {!p.is_packed || is_within(p.queries_total, 1, kMostSeqLen),
       "queries_total is outside 1 to 2^24"},
      {!p.is_packed || has_pages || is_within(p.keys_total, 1, kMostSeqLen),
       "keys_total is outside 1 to 2^24"},
      {!p.is_packed || is_within(p.keys_total, 1, kMostKeysInPages),
       "keys_total is outside 1 to 2^31 - 1"},
      {!(p.is_packed && p.has_seq_lens_kv), "cu_seqlens_kv says the lengths of a packed problem"},
      {!has_pages ||
           (is_within(p.page_size, 1, kMostPageSize) && (p.page_size & (p.page_size - 1)) == 0),
       "page_size is no power of two, or outside 1 to 256"},
      {!has_pages || is_within(p.pool_pages, 1, kMostPoolPages),
       "pool_pages is outside 1 to 2^31 - 1"},
      {!has_pages || p.seq_len_kv % p.page_size == 0, "seq_len_kv is no multiple of page_size"}};
  return first_fault(checks);
}

}  // namespace

std::array<Extents, 4> extents_of(const Problem& problem) {
  const Problem& p = problem;
  const std::int64_t batch = p.is_packed ? 1 : p.batch;
  const std::int64_t queries = p.is_packed ? p.queries_total : p.seq_len;
  const std::int64_t kv_batch = p.page_size > 0 ? p.pool_pages : batch;
  const std::int64_t keys = p.page_size > 0 ? p.page_size
                            : p.is_packed   ? p.keys_total
                                            : p.seq_len_kv;
  return {{{batch, p.heads, queries, p.d_head},
           {kv_batch, p.kv_heads, keys, p.d_head},
           {kv_batch, p.kv_heads, keys, p.d_head_v},
           {batch, p.heads, queries, p.d_head_v}}};
}

std::array<ShapedTensor, 4> shaped_tensors(const Problem& problem, const Tensors& tensors) {
  const auto extents = extents_of(problem);
  return {{{&tensors.q, extents[0], 2},
           {&tensors.k, extents[1], kv_bytes(problem)},
           {&tensors.v, extents[2], kv_bytes(problem)},
           {&tensors.o, extents[3], 2}}};
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

const char* fault_of(const Problem& problem) {
  const Problem& p = problem;
  const Check checks[] = {
      {p.dtype == DType::fp16 || p.dtype == DType::bf16, "dtype is neither fp16 nor bf16"},
      {is_within(p.batch, 1, kMostHeads), "batch is outside 1 to 65535"},
      {is_within(p.heads, 1, kMostHeads), "heads is outside 1 to 65535"},
      {is_within(p.kv_heads, 1, kMostHeads), "kv_heads is outside 1 to 65535"},
      {p.kv_heads < 1 || p.heads % p.kv_heads == 0, "kv_heads does not divide heads"},
      {is_within(p.seq_len, 1, kMostSeqLen), "seq_len is outside 1 to 2^24"},
      {is_within(p.seq_len_kv, 1, kMostSeqLen), "seq_len_kv is outside 1 to 2^24"},
      {is_within(p.d_head, 1, kMostHeadDim), "d_head is outside 1 to 1024"},
      {is_within(p.d_head_v, 1, kMostHeadDim), "d_head_v is outside 1 to 1024"},
      {is_within(p.window, 0, kMostSeqLen), "window is outside 0 to 2^24"},
      {p.softmax_scale >= 0.0F && p.softmax_scale <= kMostScale,
       "softmax_scale is outside 0 to 1e6"},
      {p.softcap == 0.0F || (p.softcap >= kLeastSoftcap && p.softcap <= kMostScale),
       "softcap is neither 0 nor within 0.001 to 1e6"}};
  const char* fault = first_fault(checks);
  fault = fault != nullptr ? fault : fault_of_places(problem);
  return fault != nullptr ? fault : fault_of_kv(problem);
}

const char* fault_of_shape(const Problem& problem, const Tensors& tensors) {
  if (const char* fault = fault_of(problem)) {
    return fault;
  }
  for (const ShapedTensor& shaped : shaped_tensors(problem, tensors)) {
    if (const char* fault = fault_of_tensor(shaped)) {
      return fault;
    }
  }
  return nullptr;
}

const char* fault_of(const Problem& problem, const Tensors& tensors) {
  if (const char* fault = fault_of_shape(problem, tensors)) {
    return fault;
  }
  for (const ShapedTensor& shaped : shaped_tensors(problem, tensors)) {
    if (shaped.tensor->data == nullptr) {
      return "a tensor is null";
    }
    if (!is_aligned(shaped.tensor->data, kAlignment)) {
      return "a tensor is not 16-byte aligned";
    }
  }
  if (problem.lse && (tensors.lse == nullptr || !is_aligned(tensors.lse, alignof(float)))) {
    return "lse is null or misaligned, but the problem requests it";
  }
  return fault_of_arrays(problem, tensors);
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
