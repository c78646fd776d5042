// Attention with kernels tuned by fatune: O = softmax(scale * Q K^T [mask]) V.
//
// Needs C++17, the standard library and the CUDA driver, which is loaded by the first call that
// needs it. Every function may be called from several threads at once, and never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace fatune_attention {

enum class DType : int { fp16 = 5, bf16 = 15 };

/// The element type of K and V: that of Q, or one of 8 bits. e4m3 is PyTorch's float8_e4m3fn.
enum class KvDType : int { of_q = 0, e5m2 = 23, e4m3 = 24 };

/// What elements of a K of 8 bits share a scale, and of V: all, those of a head, of a head of a
/// key, or of a head of a page.
enum class KvScales : int { tensor = 0, head = 1, token = 2, page = 3 };

/// The problem to compute. If it is `causal`, a query sees no key after its own position. If it has
/// a window, a query sees only keys less than `window` away from it. The last query is aligned with
/// the last key: query i is at position i + seq_len_kv - seq_len. Rows of O whose queries see no
/// key are 0.
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
  bool lse = false;            ///< also compute the log-sum-exp of every row
  /// Sequences have different numbers of keys, which Tensors::seq_lens_kv says. K and V then have
  /// room for seq_len_kv keys of each sequence, and all that is said above holds for each sequence
  /// with its own number.
  bool has_seq_lens_kv = false;
  float softcap = 0.0F;  ///< scaled scores s become softcap * tanh(s / softcap); 0: they do not
  /// Every head has a sink, which Tensors::sinks says: a score that counts in the denominator of
  /// softmax alone. The log-sum-exp has it too.
  bool has_sinks = false;
  /// The keys of a page, if K and V are pools of pages: a power of two, at most 256; 0: they are
  /// contiguous. Tensors::k and v are then (pool_pages, kv_heads, page_size, d), and
  /// Tensors::page_table says which pages a sequence has. seq_len_kv is a multiple of page_size.
  std::int64_t page_size = 0;
  std::int64_t pool_pages = 0;  ///< pages of K, and of V
  /// Sequences are packed: Q and O have queries_total rows, those of one sequence after those of
  /// the other, as Tensors::cu_seqlens_q says, and K and V have keys_total rows likewise. `batch`
  /// is the number of sequences, seq_len the most queries of one, and seq_len_kv the most keys.
  /// These two only need to be as great as any length. In pages, keys are not packed: the table
  /// says where a sequence has them, and cu_seqlens_kv only how many there are. keys_total then
  /// decides which kernel is chosen, and may be an estimate.
  bool is_packed = false;
  std::int64_t queries_total = 0;
  std::int64_t keys_total = 0;
  /// K and V may have 8 bits. What is stored, times its scale, is the key or the value:
  /// Tensors::k_scales and v_scales have the scales. Q and O have `dtype`.
  KvDType kv_dtype = KvDType::of_q;
  KvScales kv_scales = KvScales::tensor;
};

/// A tensor (batch, heads, rows, d) in device memory, with any strides. Elements have 16 bits,
/// those of K and V also 8 (Problem::kv_dtype). The elements of a row are contiguous. Strides are
/// in elements. The tensors of a packed problem have the rows of all sequences, and are one batch.
struct Tensor {
  void* data = nullptr;  ///< 16-byte aligned
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t row_stride = 0;
};

/// Device memory that some kernels need in addition to their tensors. workspace_bytes() returns its
/// size. Launches that may overlap must not share it.
struct Workspace {
  void* data = nullptr;  ///< 256-byte aligned
  std::size_t bytes = 0;
  /// True: the memory was zero at first, and nothing but this library has written to it since.
  /// Kernels leave it as they found it. False: the parts that must be zero are cleared on the
  /// stream before the kernel.
  bool is_clean = false;
};

struct Tensors {
  Tensor q;
  Tensor k;
  Tensor v;
  Tensor o;
  /// (batch, heads, seq_len), or of a packed problem (heads, queries_total), contiguous; for
  /// Problem::lse
  float* lse = nullptr;
  /// (batch), contiguous, in device memory; for Problem::has_seq_lens_kv. The kernel reads it, the
  /// host never does: a captured graph computes with what it holds at the replay. No length may be
  /// less than 0 or more than Problem::seq_len_kv; nothing checks this.
  const std::int32_t* seq_lens_kv = nullptr;
  const float* sinks = nullptr;  ///< (heads), contiguous, in device memory; for Problem::has_sinks
  /// (batch, seq_len_kv / page_size), contiguous, in device memory; for Problem::page_size. Keys
  /// [i * page_size, (i + 1) * page_size) of a sequence are in the page that its entry i names.
  /// Sequences may share pages. Entries behind a sequence's last key may be anything.
  const std::int32_t* page_table = nullptr;
  /// (batch + 1), contiguous, in device memory; for Problem::is_packed: the first row of each
  /// sequence in Q and O, and behind them queries_total. The host never reads them.
  const std::int32_t* cu_seqlens_q = nullptr;
  /// The same in K and V. In pages, the sums of the sequences' numbers of keys: 0 comes first.
  const std::int32_t* cu_seqlens_kv = nullptr;
  /// The scales of K and of V, contiguous, in device memory; for Problem::kv_dtype of 8 bits. By
  /// Problem::kv_scales, each is (1), (kv_heads), (batch, seq_len_kv, kv_heads), or (pool_pages,
  /// kv_heads). Those of keys in pages are (pool_pages, page_size, kv_heads), and those of packed
  /// keys (keys_total, kv_heads).
  const float* k_scales = nullptr;
  const float* v_scales = nullptr;
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

/// How a kernel was selected, the most reliable way first.
enum class Step : int {
  exact,             ///< the problem was tuned on this GPU
  predicted,         ///< its time, predicted from measured times of other problems, is the shortest
  same_bucket,       ///< a problem of the same buckets was tuned on this GPU
  neighbour_bucket,  ///< a problem of a neighbouring bucket was tuned on this GPU
  same_arch,         ///< one of the same or a neighbouring bucket was tuned on another GPU of this
                     ///< architecture
  nearest,           ///< none of these, but one for the same type, head dimensions, and few queries
                     ///< or more, on a GPU of this architecture
  fallback,          ///< no such problem was tuned: the default
  refused,           ///< no kernel is eligible
};

/// Why no time that was measured says how good a choice is for a problem: what is unlike all tuned
/// problems (docs/export.md of fatune).
struct Untuned {
  const char* property = "";  ///< "queries"; empty: the problem is in the range that was tuned
  char text[160] = {};        ///< "queries: 300; tuned: 512 to 16384"

  explicit operator bool() const { return *property != '\0'; }
};

/// The selected kernel. Pointers are to texts that live as long as the program.
struct Selection {
  Step step = Step::refused;
  int configuration = -1;   ///< index of a configuration of the library; -1: refused
  int kernel = -1;          ///< index of its machine code for this problem; -1: refused
  int row = -1;             ///< index of the table's row; -1: none made the choice
  const char* config = "";  ///< in short form
  const char* reason = "";  ///< why it is refused; else empty
  double tuned_us = 0.0;    ///< the time measured for the row, or the predicted one; else 0
  /// How much slower it is than the row's winner. Not a number: unknown, as for what is untuned,
  /// and for lengths of keys that differ, packed problems and pages, which no row has.
  double regret_percent = std::numeric_limits<double>::quiet_NaN();
  Untuned untuned;  ///< if it is true, nothing says that the kernel is a good one
  std::size_t workspace_bytes = 0;
  /// Configurations that were tried on the caller's own calls, on which it was the fastest; 0: none
  /// were, or not enough yet.
  int tried = 0;
};

/// The greatest number of candidates for attention_forward(), and a good one.
inline constexpr int kMostCandidates = 12;

enum class Status : int {
  ok,
  invalid_argument,     ///< a null pointer, a length of 0, an unsupported stride or alignment
  unsupported,          ///< no kernel is eligible: `reason` says why
  workspace_too_small,  ///< too small, or not aligned
  no_driver,            ///< libcuda.so.1 is missing, or too old
  no_context,           ///< no CUDA context is current in this thread
  driver_error,         ///< `reason` is the driver's name of the error
};

/// `reason` is empty for Status::ok; it lives as long as the program.
struct Result {
  Status status = Status::ok;
  const char* reason = "";

  explicit operator bool() const { return status == Status::ok; }
};

/// Selects the kernel for a problem with contiguous tensors (batch, rows, heads, d), or with the
/// strides of `tensors`. Needs no driver. The same arguments always give the same selection.
Selection select(const Problem& problem, const Device& device);
Selection select(const Problem& problem, const Tensors& tensors, const Device& device);

/// Selects for the device of the current context, as attention_forward() does. Selection::untuned
/// says whether another implementation should be preferred. Fails as attention_forward() does.
/// candidates: as attention_forward() has them; while others are tried, the selection is the
/// fastest so far, and its workspace is large enough for all
Result select_here(const Problem& problem, const Tensors& tensors, Selection& selection,
                   int candidates = 1);

/// Finds the device of the current context.
Result current_device(Device& device);

/// Queues the kernel on a stream (a CUstream or cudaStream_t; null: the default stream) of the
/// current context. Allocates nothing. It may be captured into a CUDA graph once the kernel has
/// been loaded, by its first launch or by load().
///
/// With 2 to kMostCandidates candidates, kernels are tried for a problem that was not tuned: its
/// first calls, at most 72 of this process, launch by turns the kernels with the least predicted
/// times, as many as `candidates` says. Events time them, and later calls have the fastest. All
/// results are right, but the last bits of O may differ from one call to another until then, and
/// from one process to another. Memory and events are allocated; nothing is waited for. Nothing is
/// tried while a CUDA graph captures the stream: it has the fastest so far.
Result attention_forward(const Problem& problem, const Tensors& tensors, const Workspace& workspace,
                         void* stream, int candidates = 1);

/// Returns the size of the workspace that attention_forward() needs with as many candidates. 0:
/// none is needed, or the problem is refused.
std::size_t workspace_bytes(const Problem& problem, const Tensors& tensors, int candidates = 1);

/// Loads the kernel that attention_forward() would launch, so that its first call costs no more
/// than later calls.
Result load(const Problem& problem, const Tensors& tensors);

/// The numbers of kernels (machine code), configurations and tuned problems in the library.
struct Contents {
  int kernels = 0;
  int configurations = 0;
  int rows = 0;
};
Contents contents();

const char* status_name(Status status);
const char* step_name(Step step);

}  // namespace fatune_attention
