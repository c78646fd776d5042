#pragma once

// The extents of a problem's tensors and how their strides are read, checks of a caller's
// arguments, and the values on which the expressions of a family are evaluated.

#include <array>

#include "attention.hpp"
#include "kernel_table.hpp"

namespace fatune_attention::detail {

struct Extents {
  std::int64_t batch;
  std::int64_t heads;
  std::int64_t rows;
  std::int64_t d;
};

/// The extents of q, k, v and o, in this order.
std::array<Extents, 4> extents_of(const Problem& problem);

/// A tensor of a problem with its extents, and the bytes of an element.
struct ShapedTensor {
  const Tensor* tensor;
  Extents extents;
  std::int64_t element_bytes;
};

/// Whether K and V have 8 bits, and scales.
constexpr bool has_scales(const Problem& problem) { return problem.kv_dtype != KvDType::of_q; }
/// The bytes of an element of K and V.
constexpr std::int64_t kv_bytes(const Problem& problem) { return has_scales(problem) ? 1 : 2; }

/// The tensors q, k, v and o, in this order.
std::array<ShapedTensor, 4> shaped_tensors(const Problem& problem, const Tensors& tensors);

/// A contiguous tensor: (batch, heads, rows, d) with `layout_bhsd`, else (batch, rows, heads, d).
Tensor contiguous_tensor(const Extents& extents, bool layout_bhsd);

/// Contiguous tensors (batch, rows, heads, d) without memory.
Tensors usual_tensors(const Problem& problem);

/// Whether heads are outside of rows in memory, according to the first tensor that has several of
/// both. Returns false if there is none.
bool is_layout_bhsd(const std::array<ShapedTensor, 4>& tensors);

/// Replaces strides along a single batch, head or row, which have no meaning, by those of a
/// contiguous tensor.
Tensor with_plain_strides(const ShapedTensor& shaped, bool layout_bhsd);

bool is_contiguous(const ShapedTensor& shaped, bool layout_bhsd);

// Checks of a caller's arguments. Each function returns what is wrong, or null if nothing is.

inline constexpr std::int64_t kMostSeqLen = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostHeadDim = 1024;
inline constexpr std::int64_t kMostHeads = 65535;  ///< also the limit of batch
inline constexpr float kMostScale = 1e6F;          ///< also the limit of softcap
inline constexpr float kLeastSoftcap = 1e-3F;
inline constexpr std::int64_t kMostPageSize = 256;
inline constexpr std::int64_t kMostPoolPages = 0x7fffffff;
inline constexpr std::int64_t kMostKeysInPages = 0x7fffffff;  ///< of a packed problem

const char* fault_of(const Problem& problem);

/// Checks the problem and the strides, but not the addresses.
const char* fault_of_shape(const Problem& problem, const Tensors& tensors);

/// Checks the problem, the strides and the addresses.
const char* fault_of(const Problem& problem, const Tensors& tensors);

/// Precondition: the problem and the strides are valid.
Facts facts_of(const Problem& problem, const Tensors& tensors, const Device& device);

/// Returns the problem's own scale, or 1 / sqrt(d_head) if it has none.
float softmax_scale_of(const Problem& problem);

}  // namespace fatune_attention::detail
