#include "argument_checks.hpp"

#include "facts.hpp"

namespace fatune_attention::detail {
namespace {

constexpr std::int64_t kElementBytes = 2;
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
const char* fault_of_stride(std::int64_t stride, std::int64_t extent, std::int64_t d) {
  const Check checks[] = {
      {stride >= d, "a stride is less than a row's elements"},
      {stride < kMostStrideBytes / kElementBytes, "a stride is not below 2^40 bytes"},
      {stride % (kAlignment / kElementBytes) == 0, "a stride is not a multiple of 16 bytes"}};
  return extent > 1 ? first_fault(checks) : nullptr;
}

const char* fault_of_tensor(const ShapedTensor& shaped) {
  const Tensor& tensor = *shaped.tensor;
  const Extents& extents = shaped.extents;
  const char* fault = fault_of_stride(tensor.batch_stride, extents.batch, extents.d);
  fault = fault != nullptr ? fault : fault_of_stride(tensor.head_stride, extents.heads, extents.d);
  return fault != nullptr ? fault : fault_of_stride(tensor.row_stride, extents.rows, extents.d);
}

bool is_aligned(const void* address, std::uint64_t alignment) {
  return reinterpret_cast<std::uint64_t>(address) % alignment == 0;
}

const char* fault_of_lengths(const Problem& problem, const std::int32_t* lengths) {
  if (problem.has_seq_lens_kv) {
    return lengths != nullptr && is_aligned(lengths, alignof(std::int32_t))
               ? nullptr
               : "seq_lens_kv is null or misaligned, but the problem has lengths of keys";
  }
  return lengths == nullptr ? nullptr
                            : "seq_lens_kv is given, but has_seq_lens_kv of the problem is false";
}

}  // namespace

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
       "softmax_scale is outside 0 to 1e6"}};
  return first_fault(checks);
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
  return fault_of_lengths(problem, tensors.seq_lens_kv);
}

}  // namespace fatune_attention::detail
