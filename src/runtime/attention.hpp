// Attention by kernels that fatune has tuned: O = softmax(scale * Q K^T [mask]) V.
//
// C++17, the standard library and the CUDA driver, which is loaded at the first call that needs it.
// Every function may be called from several threads at once, and throws nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fatune_attention {

enum class DType : int { fp16 = 5, bf16 = 15 };

/// What is computed. A query sees no key after its own position when `causal`, and only keys less
/// than `window` away from it with a window. The last query stands at the last key: query i is at
/// position i + seq_len_kv - seq_len. The rows of O of queries that see no key are 0.
struct Problem {
  DType dtype = DType::bf16;
  std::int64_t batch = 0;
  std::int64_t heads = 0;       ///< of queries
  std::int64_t kv_heads = 0;    ///< of keys and values; divides heads
  std::int64_t seq_len = 0;     ///< queries of a sequence
  std::int64_t seq_len_kv = 0;  ///< keys of a sequence
  std::int64_t d_head = 0;      ///< elements of a row of Q and K
  std::int64_t d_head_v = 0;    ///< elements of a row of V and O
  bool causal = false;
  std::int64_t window = 0;     ///< 0: none
  float softmax_scale = 0.0F;  ///< 0: 1 / sqrt(d_head)
  bool lse = false;            ///< the log-sum-exp of every row is wanted too
};

/// A tensor (batch, heads, rows, d) of 16-bit elements in device memory, wherever its rows lie. The
/// elements of a row are neighbours. Strides in elements.
struct Tensor {
  void* data = nullptr;  ///< 16-byte aligned
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t row_stride = 0;
};

/// Device memory that some kernels need beside their tensors: workspace_bytes() says how much.
/// Launches that may overlap must not share it.
struct Workspace {
  void* data = nullptr;  ///< 256-byte aligned
  std::size_t bytes = 0;
  /// It was zero at first, and nothing but this library has written to it: kernels leave it as they
  /// found it. False: what has to be zero is cleared on the stream before the kernel.
  bool is_clean = false;
};

struct Tensors {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor o;
  float* lse = nullptr;  ///< (batch, heads, seq_len), contiguous; for Problem::lse
};

/// The GPU that a kernel is chosen for.
struct Device {
  char name[256] = {};  ///< "NVIDIA H200"
  int arch = 0;         ///< 90: 10 * major + minor of the compute capability
  int sm_count = 0;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int registers_per_sm = 0;
  std::int64_t smem_per_block_optin_bytes = 0;
  std::int64_t smem_per_sm_bytes = 0;
};

/// How a kernel was come to, the surest way first.
enum class Step : int {
  exact,             ///< the problem was tuned on this GPU
  same_bucket,       ///< one of the same buckets was, on this GPU
  neighbour_bucket,  ///< one of a neighbouring bucket was, on this GPU
  same_arch,         ///< one of the same or a neighbouring bucket was, on another GPU of this
                     ///< architecture
  fallback,          ///< none was: the default
  refused,           ///< no kernel is eligible
};

/// A choice. Texts live as long as the program.
struct Selection {
  Step step = Step::refused;
  int configuration = -1;       ///< of those that the library has; -1: refused
  int kernel = -1;              ///< its machine code for such problems; -1: refused
  int row = -1;                 ///< of the table; -1: a default, or refused
  const char* config = "";      ///< in short form
  const char* reason = "";      ///< why it is refused; else empty
  double tuned_us = 0.0;        ///< what the row measured; 0 without one
  double regret_percent = 0.0;  ///< by how much it is slower than the row's winner
  std::size_t workspace_bytes = 0;
};

enum class Status : int {
  ok,
  invalid_argument,     ///< a null pointer, a length of 0, a stride or an alignment that none takes
  unsupported,          ///< no kernel is eligible: `reason` says why
  workspace_too_small,  ///< or not aligned
  no_driver,            ///< libcuda.so.1 is not there, or too old
  no_context,           ///< no CUDA context is current in this thread
  driver_error,         ///< `reason` is the driver's name of it
};

/// `reason` is empty for Status::ok; it lives as long as the program.
struct Result {
  Status status = Status::ok;
  const char* reason = "";

  explicit operator bool() const { return status == Status::ok; }
};

/// The kernel for a problem with contiguous tensors (batch, rows, heads, d), or with those strides.
/// Needs no driver. The same arguments always give the same selection.
Selection select(const Problem& problem, const Device& device);
Selection select(const Problem& problem, const Tensors& tensors, const Device& device);

/// The device of the current context.
Result current_device(Device& device);

/// Queues the kernel on the stream (a CUstream or cudaStream_t; null: the default one) of the
/// current context. Allocates nothing; may be captured into a CUDA graph once the kernel is loaded,
/// which its first launch or load() does.
Result attention_forward(const Problem& problem, const Tensors& tensors, const Workspace& workspace,
                         void* stream);

/// Of the workspace that attention_forward() needs for it; 0: none, or refused.
std::size_t workspace_bytes(const Problem& problem, const Tensors& tensors);

/// Loads what attention_forward() would launch, so that its first call costs no more than others.
Result load(const Problem& problem, const Tensors& tensors);

/// How many kernels of machine code, configurations and tuned problems the library has.
struct Contents {
  int kernels = 0;
  int configurations = 0;
  int rows = 0;
};
Contents contents();

const char* status_name(Status status);
const char* step_name(Step step);

}  // namespace fatune_attention
