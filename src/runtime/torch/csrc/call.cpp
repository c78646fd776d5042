#include "call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "facts.hpp"

namespace fatune_attention::torch_binding {
namespace {

constexpr int kDimensions = 4;
using Extents = std::array<std::int64_t, kDimensions>;

std::int32_t dtype_of(const TorchTensor& tensor) {
  std::int32_t dtype = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
  return dtype;
}

void check_like_query(const TorchTensor& tensor, const TorchTensor& q, const char* name) {
  STD_TORCH_CHECK(tensor.dim() == kDimensions, name, " must have 4 dimensions, not ", tensor.dim());
  STD_TORCH_CHECK(tensor.is_cuda() && tensor.get_device_index() == q.get_device_index(), name,
                  " and query must be on one CUDA device");
}

/// The type of keys and values with scales.
KvDType kv_dtype_of(const TorchTensor& k) {
  const std::int32_t dtype = dtype_of(k);
  return dtype == aoti_torch_dtype_float8_e4m3fn() ? KvDType::e4m3
         : dtype == aoti_torch_dtype_float8_e5m2() ? KvDType::e5m2
                                                   : KvDType::of_q;
}

void check_types(const Call& call) {
  const bool has_scales = kv_dtype_of(call.k) != KvDType::of_q;
  STD_TORCH_CHECK(has_scales || dtype_of(call.k) == dtype_of(call.q),
                  "key and query must have the same dtype, or key one of 8 bits");
  STD_TORCH_CHECK(dtype_of(call.v) == dtype_of(call.k), "value and ", has_scales ? "key" : "query",
                  " must have the same dtype");
  STD_TORCH_CHECK(
      call.k_descale.has_value() == has_scales && call.v_descale.has_value() == has_scales,
      "k_descale and v_descale must be given for key and value of 8 bits, and only then");
}

void check_shapes(const TorchTensor& q, const TorchTensor& k, const TorchTensor& v,
                  bool has_pages) {
  const std::int64_t heads = q.size(1), kv_heads = k.size(1);
  STD_TORCH_CHECK((has_pages || k.size(0) == q.size(0)) && k.size(3) == q.size(3),
                  "key must have the same batch and columns as query");
  STD_TORCH_CHECK(v.size(0) == k.size(0) && v.size(1) == kv_heads && v.size(2) == k.size(2),
                  "value must have the same batch, heads and rows as key");
  STD_TORCH_CHECK(heads == kv_heads || (kv_heads > 0 && heads % kv_heads == 0),
                  "the heads of key must divide those of query");
}

/// Checks an array that is not an operand: its extents, its element type, and where it is.
template <typename List = std::initializer_list<std::int64_t>>
void check_array(const TorchTensor& array, const List& extents, std::int32_t dtype,
                 const TorchTensor& q, const char* name) {
  const auto sizes = array.sizes();
  STD_TORCH_CHECK(std::equal(sizes.begin(), sizes.end(), extents.begin(), extents.end()), name,
                  " has another shape than the other operands require");
  STD_TORCH_CHECK(dtype_of(array) == dtype, name, " must be ",
                  dtype == aoti_torch_dtype_int32() ? "int32" : "float32");
  STD_TORCH_CHECK(array.is_cuda() && array.get_device_index() == q.get_device_index(), name,
                  " and query must be on one CUDA device");
  STD_TORCH_CHECK(array.is_contiguous(), name, " must be contiguous");
}

/// By the dimensions of the scales of keys.
KvScales kv_scales_of(const Call& call) {
  if (!call.k_descale || call.k_descale->numel() == 1) {
    return KvScales::tensor;
  }
  const std::int64_t dimensions = call.k_descale->dim();
  return dimensions == 1 ? KvScales::head : dimensions == 2 ? KvScales::page : KvScales::token;
}

void check_scales(const TorchTensor& scales, const Call& call, const char* name) {
  const std::int64_t outer = call.k.size(0), heads = call.k.size(1), rows = call.k.size(2);
  const std::int32_t dtype = aoti_torch_dtype_float32();
  switch (kv_scales_of(call)) {
    case KvScales::tensor:
      STD_TORCH_CHECK(scales.numel() == 1, "k_descale and v_descale must have the same shape");
      return check_array(scales, scales.sizes(), dtype, call.q, name);
    case KvScales::head:
      return check_array(scales, {heads}, dtype, call.q, name);
    case KvScales::token:
      return check_array(scales, {outer, rows, heads}, dtype, call.q, name);
    case KvScales::page:
      return check_array(scales, {outer, heads}, dtype, call.q, name);
  }
}

std::int64_t sequences_of(const Call& call) {
  return call.is_packed() ? call.cu_seqlens_q->numel() - 1 : call.q.size(0);
}

void check_packed(const Call& call) {
  STD_TORCH_CHECK(call.cu_seqlens_q.has_value() == call.cu_seqlens_kv.has_value(),
                  "cu_seqlens_q and cu_seqlens_kv belong together");
  if (!call.is_packed()) {
    return;
  }
  STD_TORCH_CHECK(call.q.size(0) == 1 && !call.seq_lens_kv,
                  "packed operands are one batch, without seq_lens_kv");
  const std::int64_t starts = call.cu_seqlens_q->numel();
  STD_TORCH_CHECK(starts >= 2, "cu_seqlens_q must have an element for each sequence and one more");
  check_array(*call.cu_seqlens_q, {starts}, aoti_torch_dtype_int32(), call.q, "cu_seqlens_q");
  check_array(*call.cu_seqlens_kv, {starts}, aoti_torch_dtype_int32(), call.q, "cu_seqlens_kv");
}

TorchTensor empty_strided(const std::int64_t* sizes, const std::int64_t* strides, int dimensions,
                          std::int32_t dtype, std::int32_t device_index) {
  AtenTensorHandle handle = nullptr;
  TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(
      dimensions, sizes, strides, dtype, aoti_torch_device_type_cuda(), device_index, &handle));
  return TorchTensor(handle);
}

/// Batch, heads and rows, the dimension with the largest stride first. Columns are always last.
std::array<int, 3> memory_order(const TorchTensor& tensor) {
  const auto strides = tensor.strides();
  std::array<int, 3> order = {0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](int left, int right) { return strides[left] > strides[right]; });
  return order;
}

Tensor view_of(const TorchTensor& tensor) {
  const auto strides = tensor.strides();
  return {tensor.data_ptr(), strides[0], strides[1], strides[2]};
}

/// Null without the array.
template <typename Element>
const Element* data_of(const std::optional<TorchTensor>& array) {
  return array ? static_cast<const Element*>(array->data_ptr()) : nullptr;
}

/// The most keys that the sequences of a packed problem can have together: the host does not read
/// how many they have.
std::int64_t most_keys_in_pages(const Call& call, const Problem& problem) {
  const std::int64_t of_sequence = std::min(call.max_seqlen_kv, problem.seq_len_kv);
  return of_sequence <= detail::kMostKeysInPages / problem.batch ? problem.batch * of_sequence
                                                                 : detail::kMostKeysInPages;
}

bool rows_are_dense(const TorchTensor& tensor) { return tensor.stride(3) == 1; }

}  // namespace

void check_operands(const Call& call) {
  check_like_query(call.q, call.q, "query");
  check_like_query(call.k, call.q, "key");
  check_like_query(call.v, call.q, "value");
  check_types(call);
  check_shapes(call.q, call.k, call.v, call.page_table.has_value());
  check_packed(call);
  if (call.k_descale) {
    check_scales(*call.k_descale, call, "k_descale");
    check_scales(*call.v_descale, call, "v_descale");
  }
  const std::int64_t batch = sequences_of(call);
  if (call.seq_lens_kv) {
    check_array(*call.seq_lens_kv, {batch}, aoti_torch_dtype_int32(), call.q, "seq_lens_kv");
  }
  if (call.sinks) {
    check_array(*call.sinks, {call.q.size(1)}, aoti_torch_dtype_float32(), call.q, "sinks");
  }
  if (call.page_table) {
    const std::int64_t pages = call.page_table->dim() == 2 ? call.page_table->size(1) : 0;
    check_array(*call.page_table, {batch, pages}, aoti_torch_dtype_int32(), call.q, "page_table");
  }
}

const char* refusal(const Call& call) {
  const std::int32_t dtype = dtype_of(call.q);
  if (dtype != aoti_torch_dtype_float16() && dtype != aoti_torch_dtype_bfloat16()) {
    return "the element type is neither float16 nor bfloat16";
  }
  if (!rows_are_dense(call.q) || !rows_are_dense(call.k) || !rows_are_dense(call.v)) {
    return "the last dimension of a tensor has a stride other than 1";
  }
  if (call.scale && !(*call.scale > 0.0 && std::isfinite(*call.scale))) {
    return "the scale is not a positive number";
  }
  return nullptr;
}

Problem problem_of(const Call& call) {
  Problem problem;
  problem.dtype = dtype_of(call.q) == aoti_torch_dtype_float16() ? DType::fp16 : DType::bf16;
  problem.batch = sequences_of(call);
  problem.heads = call.q.size(1);
  problem.kv_heads = call.k.size(1);
  problem.seq_len = call.q.size(2);
  problem.seq_len_kv = call.k.size(2);
  problem.d_head = call.q.size(3);
  problem.d_head_v = call.v.size(3);
  problem.causal = call.causal && problem.seq_len > 1;  // a single query is at the last key
  problem.window = call.window;
  problem.softmax_scale = static_cast<float>(call.scale.value_or(0.0));
  problem.lse = call.lse;
  problem.has_seq_lens_kv = call.seq_lens_kv.has_value();
  problem.softcap = static_cast<float>(call.softcap);
  problem.has_sinks = call.sinks.has_value();
  problem.kv_dtype = kv_dtype_of(call.k);
  problem.kv_scales = kv_scales_of(call);
  if (call.page_table) {
    problem.page_size = call.k.size(2);
    problem.pool_pages = call.k.size(0);
    problem.seq_len_kv = call.page_table->size(1) * problem.page_size;
  }
  if (call.is_packed()) {
    problem.is_packed = true;
    problem.queries_total = call.q.size(2);
    problem.keys_total = call.k.size(2);
    problem.seq_len = call.max_seqlen_q;
    if (call.page_table) {
      problem.keys_total = most_keys_in_pages(call, problem);
    } else {
      problem.seq_len_kv = call.max_seqlen_kv;
    }
    problem.causal = call.causal && problem.seq_len > 1;
  }
  return problem;
}

TorchTensor empty_output(const Call& call) {
  const auto sizes = call.q.sizes();
  const Extents extents = {sizes[0], sizes[1], sizes[2], call.v.size(3)};
  Extents strides = {0, 0, 0, 1};
  const std::array<int, 3> order = memory_order(call.q);
  std::int64_t stride = extents[3];
  for (auto dimension = order.rbegin(); dimension != order.rend(); ++dimension) {
    strides[*dimension] = stride;
    stride *= std::max<std::int64_t>(extents[*dimension], 1);
  }
  return empty_strided(extents.data(), strides.data(), kDimensions, dtype_of(call.q),
                       call.q.get_device_index());
}

TorchTensor empty_lse(const Call& call) {
  const auto sizes = call.q.sizes();
  const std::int64_t strides[] = {sizes[1] * sizes[2], sizes[2], 1};
  return empty_strided(sizes.data(), strides, 3, aoti_torch_dtype_float32(),
                       call.q.get_device_index());
}

TorchTensor empty_bytes(std::int64_t bytes, std::int32_t device_index) {
  const std::int64_t stride = 1;
  return empty_strided(&bytes, &stride, 1, aoti_torch_dtype_uint8(), device_index);
}

Tensors tensors_of(const Call& call, const TorchTensor& o, const TorchTensor* lse) {
  Tensors tensors;
  tensors.q = view_of(call.q);
  tensors.k = view_of(call.k);
  tensors.v = view_of(call.v);
  tensors.o = view_of(o);
  tensors.lse = lse == nullptr ? nullptr : static_cast<float*>(lse->data_ptr());
  tensors.seq_lens_kv = data_of<std::int32_t>(call.seq_lens_kv);
  tensors.sinks = data_of<float>(call.sinks);
  tensors.page_table = data_of<std::int32_t>(call.page_table);
  tensors.cu_seqlens_q = data_of<std::int32_t>(call.cu_seqlens_q);
  tensors.cu_seqlens_kv = data_of<std::int32_t>(call.cu_seqlens_kv);
  tensors.k_scales = data_of<float>(call.k_descale);
  tensors.v_scales = data_of<float>(call.v_descale);
  return tensors;
}

}  // namespace fatune_attention::torch_binding
