#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/enum_names.hpp"

namespace fatune {

class JsonNode;

/// Element type of a tensor. The codes are those of PyTorch's c10::ScalarType; e4m3 is its
/// Float8_e4m3fn.
enum class DType : int { fp16 = 5, bf16 = 15, e5m2 = 23, e4m3 = 24 };

[[nodiscard]] std::string_view dtype_name(DType dtype);  ///< "FP16", "BF16", "E5M2", "E4M3"
/// Element types of Q: fp16, bf16 or e4m3, in any case. Throws Error(usage).
[[nodiscard]] DType parse_dtype(std::string_view text);
[[nodiscard]] constexpr bool has_eight_bits(DType dtype) {
  return dtype == DType::e5m2 || dtype == DType::e4m3;
}
[[nodiscard]] constexpr std::int64_t element_bytes(DType dtype) {
  return has_eight_bits(dtype) ? 1 : 2;
}

/// How tensors lie in memory: (batch, sequence, heads, d) or (batch, heads, sequence, d).
enum class Layout : int { bshd = 0, bhsd = 1 };

/// What elements of an 8-bit K, and of an 8-bit V, share a scale: all, those of a head, of a head
/// of a key, of a head of a page, or of a head of a block of keys. Elements of an 8-bit Q: all,
/// those of a head of Q, or of a head of a block of queries.
enum class KvScales : int { tensor = 0, head = 1, token = 2, page = 3, block = 4 };
/// Positions of a block. A sequence's first block begins with its first position.
inline constexpr std::int64_t kScaleBlock = 128;

/// 1 / sqrt(d_head), the usual scale of scores.
[[nodiscard]] float usual_softmax_scale(std::int64_t d_head);

/// Attention forward: O = softmax(softmax_scale * Q K^T [mask]) V for every (batch, head). With a
/// softcap, a scaled score s becomes softcap * tanh(s / softcap) before the mask. With sinks, a
/// head has a score of its own, which counts in the denominator of softmax like that of a key whose
/// value is 0; it is neither scaled nor capped.
///
/// The first six members describe a plain problem. The others usually have the values of their
/// initialisers, and have a row each in kProblemDetails below. Initialisers run once: code that
/// sets seq_len, heads, d_head or dtype later uses changed(), which updates the rest.
struct Problem {
  std::int64_t batch = 0;
  std::int64_t seq_len = 0;   ///< queries per sequence
  std::int64_t heads = 0;     ///< query heads
  std::int64_t d_head = 0;    ///< elements of a row of Q and K
  DType dtype = DType::fp16;  ///< element type of Q; of O: output_dtype()
  bool causal = false;        ///< a query sees no keys after its own position (flop.hpp)

  std::int64_t seq_len_kv = seq_len;  ///< keys per sequence
  std::int64_t kv_heads = heads;      ///< divides heads: heads / kv_heads query heads share one
  std::int64_t d_head_v = d_head;     ///< elements of a row of V and O
  std::int64_t window = 0;            ///< a query sees keys less than this far away; 0: all
  float softmax_scale = usual_softmax_scale(d_head);
  bool lse = false;  ///< the log-sum-exp of every row is wanted too
  Layout layout = Layout::bshd;
  /// Numbers of keys that differ within the batch, as kv_lengths.hpp describes them. K and V then
  /// have room for seq_len_kv keys of each sequence. Empty: all sequences have so many.
  std::string seq_lens_kv = {};
  float softcap = 0.0F;  ///< scores are capped to this; 0: they are not
  bool sinks = false;    ///< every head has a sink: kSinksTensor
  /// Keys of a page, if K and V are pools of pages, as kv_pages.hpp describes them. 0: they are
  /// contiguous.
  std::int64_t page_size = 0;
  /// Numbers of queries that differ within the batch, as kv_lengths.hpp describes them. The batch
  /// is then packed: a tensor has the rows of all sequences, one sequence after the other, and no
  /// room between them. seq_len is the greatest of these numbers, and keys are as many as queries
  /// unless seq_lens_kv says how many. Empty: all sequences have seq_len queries.
  std::string seq_lens = {};
  /// V is the first d_head_v columns of K, as in multi-head latent attention, and no tensor of its
  /// own.
  bool latent = false;
  /// Element type of K and V: that of Q, or of 8 bits. A Q of 8 bits has the type of K and V.
  /// Tensors of 8 bits have scales, in fp32: what is stored, times its scale, is the element.
  DType kv_dtype = dtype;
  KvScales kv_scales = KvScales::tensor;  ///< of Q, K and V of 8 bits: scale_shape()

  auto operator<=>(const Problem&) const = default;
};

inline constexpr std::int64_t kMostSeqLen = std::int64_t{1} << 24;
inline constexpr std::int64_t kMostHeadDim = 1024;
inline constexpr std::int64_t kMostPageSize = 256;

/// A value that outputs and options write as a name.
struct DetailName {
  std::string_view name;
  int value;
};

/// A property of a problem other than the first six, as all code knows it that reads, shows, stores
/// or asks for it. Numbers are exact as double: no integer is greater than 2^53.
struct ProblemDetail {
  using Member =
      std::variant<std::int64_t Problem::*, float Problem::*, bool Problem::*, Layout Problem::*,
                   std::string Problem::*, DType Problem::*, KvScales Problem::*>;
  /// In the order of Member's alternatives.
  enum class Kind { integer, number, flag, layout, lengths, kv_dtype, kv_scales };

  std::string_view name;    ///< what outputs and records call it
  std::string_view symbol;  ///< what expressions of families and spaces call it
  std::string_view option;  ///< its option on the command line
  std::string_view label;   ///< what describe() puts before the value
  std::string_view doc;
  Member member;
  double least = 0.0;     ///< the least allowed integer or number
  double greatest = 1.0;  ///< the greatest allowed integer or number
  Kind kind = static_cast<Kind>(member.index());

  /// The value as a number; of lengths: 1 if there are any.
  [[nodiscard]] double get(const Problem& problem) const;
  /// The values of a property that has names for them; empty: it has none.
  [[nodiscard]] std::span<const DetailName> names() const;
  /// The property's value with this name, in any case. Throws Error(usage); `where`: the option.
  [[nodiscard]] int parse_name(std::string_view text, const std::string& where = {}) const;
};

/// A row for each of these properties.
inline constexpr std::array<ProblemDetail, 15> kProblemDetails{
    {{"seq_len_kv", "seq_len_kv", "--seq-kv", "kv",
      "keys of a sequence (default: as many as queries)", &Problem::seq_len_kv, 1, kMostSeqLen},
     {"kv_heads", "kv_heads", "--kv-heads", "hkv",
      "heads of keys and values, which groups of heads share (default: one each)",
      &Problem::kv_heads, 1, 65535},
     {"d_head_v", "d_head_v", "--dhead-v", "dv",
      "head dimension of V and O (default: that of Q and K)", &Problem::d_head_v, 1, kMostHeadDim},
     {"window", "window", "--window", "w",
      "a query sees keys less than this far from its position (default: 0, all)", &Problem::window,
      0, kMostSeqLen},
     {"softmax_scale", "softmax_scale", "--softmax-scale", "scale",
      "factor of the scores (default: 1 / sqrt(d_head))", &Problem::softmax_scale, 1e-6, 1e6},
     {"lse", "lse", "--lse", "lse", "the log-sum-exp of every row is wanted too", &Problem::lse},
     {"layout", "layout_bhsd", "--layout", "",
      "bshd (batch, sequence, heads, d) or bhsd (batch, heads, sequence, d)", &Problem::layout},
     {"seq_lens_kv", "has_seq_lens_kv", "--seq-kv-lens", "lens ",
      "keys of each sequence, if they differ: a list (on the command line also a file of "
      "numbers), uniform:LOW-HIGH[:SEED] or zipf:LOW-HIGH[:EXPONENT[:SEED]]",
      &Problem::seq_lens_kv},
     {"softcap", "softcap", "--softcap", "cap",
      "scaled scores s become softcap * tanh(s / softcap) (default: 0, they do not)",
      &Problem::softcap, 0, 1e6},
     {"sinks", "sinks", "--sinks", "sinks",
      "every head has a sink, a score that counts in the denominator of softmax alone",
      &Problem::sinks},
     {"page_size", "page_size", "--page-size", "page",
      "keys of a page, a power of two, if K and V are pools of pages that a table names (default: "
      "0, contiguous)",
      &Problem::page_size, 0, kMostPageSize},
     {"seq_lens", "has_seq_lens", "--seq-lens", "packed ",
      "queries of each sequence, if they differ, in place of --seq: lengths as with --seq-kv-lens; "
      "the sequences are packed, one after the other",
      &Problem::seq_lens},
     {"latent", "latent", "--latent", "latent",
      "V is the first d_head_v columns of K, and no tensor of its own (multi-head latent "
      "attention)",
      &Problem::latent},
     {"kv_dtype", "kv_dtype", "--kv-dtype", "kv",
      "element type of K and V: that of Q (default), or e4m3 or e5m2, 8 bits that are multiplied "
      "by a scale",
      &Problem::kv_dtype, 0, 24},
     {"kv_scales", "kv_scales", "--kv-scales", "scales/",
      "what shares a scale in K and V of 8 bits: tensor (all, the default), head, token (a head of "
      "a key) or page (a head of a page); with Q of 8 bits, which has scales too, tensor, head or "
      "block (a head of 128 positions)",
      &Problem::kv_scales, 0, 4}}};

/// The name that kernels' arguments use for the heads' sinks: fp32, one for each query head.
inline constexpr std::string_view kSinksTensor = "sinks";
/// The names that kernels' arguments use for the scales of Q, K and V of 8 bits: fp32,
/// scale_shape().
inline constexpr std::string_view kQueryScalesTensor = "q_scales";
inline constexpr std::string_view kKeyScalesTensor = "k_scales";
inline constexpr std::string_view kValueScalesTensor = "v_scales";

/// Largest power of two, at most 16, that keeps batch * seq_len at most 65536 (at least 1).
[[nodiscard]] std::int64_t default_batch(std::int64_t seq_len);

inline constexpr std::int64_t kDefaultHeads = 16;

/// Whether the sequences' rows are packed, one sequence after the other.
[[nodiscard]] inline bool is_packed(const Problem& problem) { return !problem.seq_lens.empty(); }

/// The heads of the output: batch * heads, or of a packed problem heads, as its sequences share
/// them.
[[nodiscard]] inline std::int64_t output_heads(const Problem& problem) {
  return (is_packed(problem) ? 1 : problem.batch) * problem.heads;
}
/// Rows of each of them: seq_len, or of a packed problem those of all sequences.
[[nodiscard]] std::int64_t rows_per_output_head(const Problem& problem);
/// Rows of the output: output_heads() * rows_per_output_head().
[[nodiscard]] inline std::int64_t output_rows(const Problem& problem) {
  return output_heads(problem) * rows_per_output_head(problem);
}

/// The number of query heads that share a key head. Precondition: check_problem() passes.
[[nodiscard]] std::int64_t group_size(const Problem& problem);

/// Throws Error(usage) unless all extents are positive and within 32-bit grid limits, kv_heads
/// divides heads, and lengths that differ within the batch, and pages, are possible.
void check_problem(const Problem& problem);

/// "b16 s4096 h16 d128 FP16 causal", followed by the unusual properties ("kv8192 hkv4"). For
/// people. The form is stable and used in logs and file names.
[[nodiscard]] std::string describe(const Problem& problem);
/// The options of the command line that name the problem: "--seq 4096 --batch 16 --heads 16 ...".
[[nodiscard]] std::string option_text(const Problem& problem);
/// describe() as part of a file's name: "b16_s4096_h16_d128_FP16_causal".
[[nodiscard]] std::string file_name_part(const Problem& problem);

// The names of a run's NVTX ranges, which profilers show (docs/counters.md).

/// The range around all measurements of a family's kernels on a problem:
/// "bench_flash_sm80_B16_H16_N4096_D128".
[[nodiscard]] std::string bench_range_name(const std::string& family, const Problem& problem);
/// The range around each launch, with the configuration's short form:
/// "attention_flash_sm90_B16_H16_N4096_D128 (ws, FP16, ...): lazy+...".
[[nodiscard]] std::string attention_range_name(const std::string& family, const Problem& problem,
                                               const std::string& config);

enum class TensorRole { q, k, v, o };

inline constexpr std::array kTensorRoles{TensorRole::q, TensorRole::k, TensorRole::v,
                                         TensorRole::o};

template <>
inline constexpr EnumNames<4> kEnumNames<TensorRole>{"tensor", {"Q", "K", "V", "O"}};

/// The extents of a tensor, and where its elements lie. Strides are in elements; columns are
/// adjacent.
struct TensorShape {
  std::int64_t batch = 0;
  std::int64_t rows = 0;  ///< positions of the sequence
  std::int64_t heads = 0;
  std::int64_t columns = 0;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t head_stride = 0;

  [[nodiscard]] std::int64_t elements() const { return batch * rows * heads * columns; }
  /// The index of the first element of a row.
  [[nodiscard]] std::int64_t row_offset(std::int64_t in_batch, std::int64_t row,
                                        std::int64_t head) const {
    return in_batch * batch_stride + row * row_stride + head * head_stride;
  }
};

/// The shape of the contiguous tensor, in the problem's layout. Of K and V in pages, it is that of
/// the pool: the batch are its pages, and the rows those of a page. A packed tensor is one batch,
/// with the rows of all sequences. V of a latent problem has the strides of K.
[[nodiscard]] TensorShape tensor_shape(const Problem& problem, TensorRole role);

/// Whether K and V have scales.
[[nodiscard]] inline bool has_scales(const Problem& problem) {
  return has_eight_bits(problem.kv_dtype);
}
/// Whether Q has scales too.
[[nodiscard]] inline bool has_query_scales(const Problem& problem) {
  return has_eight_bits(problem.dtype);
}
/// The positions that share a scale, if the problem has scales of blocks; else 0.
[[nodiscard]] inline std::int64_t scale_block(const Problem& problem) {
  return problem.kv_scales == KvScales::block ? kScaleBlock : 0;
}
/// The shape of the scales of K, and of those of V: (1), (heads), or (batch, rows, heads) of K, or
/// without its rows for scales of pages. Of Q: (1) or (heads) of Q. Of each with scales of blocks:
/// (sequences, blocks of the longest, heads). A stride is 0 where the scale is the same; ScaleRows
/// says which row has which scale. Precondition: the tensor has scales.
[[nodiscard]] TensorShape scale_shape(const Problem& problem, TensorRole role = TensorRole::k);

/// Element type of O: that of Q, or bf16 where Q has 8 bits.
[[nodiscard]] inline DType output_dtype(const Problem& problem) {
  return has_eight_bits(problem.dtype) ? DType::bf16 : problem.dtype;
}
[[nodiscard]] inline DType dtype_of(const Problem& problem, TensorRole role) {
  return role == TensorRole::o   ? output_dtype(problem)
         : role == TensorRole::q ? problem.dtype
                                 : problem.kv_dtype;
}

/// How many times as many products of Q's elements tensor cores compute in a clock as of 16 bits.
[[nodiscard]] inline double product_rate(const Problem& problem) {
  return has_eight_bits(problem.dtype) ? 2.0 : 1.0;
}

/// Whether the tensor is columns of another one, where that begins: V of a latent problem, of K.
[[nodiscard]] inline bool is_view(const Problem& problem, TensorRole role) {
  return problem.latent && role == TensorRole::v;
}
/// The tensor in whose memory this one is.
[[nodiscard]] inline TensorRole stored_in(const Problem& problem, TensorRole role) {
  return is_view(problem, role) ? TensorRole::k : role;
}

/// The elements that the tensor has memory of its own for.
[[nodiscard]] inline std::int64_t tensor_elements(const Problem& problem, TensorRole role) {
  return is_view(problem, role) ? 0 : tensor_shape(problem, role).elements();
}
[[nodiscard]] inline std::int64_t tensor_bytes(const Problem& problem, TensorRole role) {
  return tensor_elements(problem, role) * element_bytes(dtype_of(problem, role));
}

/// The problem on which candidates are verified with adversarial inputs. It has the same sequence
/// length, head dimension, type, mask and number of heads, so that every tile and every iteration
/// is the problem's, but a single batch; with lengths of keys, up to four sequences as in
/// small_problem(). Machine code may depend on anything but the batch and the lengths
/// (planner.hpp).
[[nodiscard]] Problem probe_problem(const Problem& problem);

/// Enough for several steps of the usual key tiles, and for a second query block.
inline constexpr std::int64_t kShortLength = 256;

/// A short length with the same remainder as `seq_len` for every tile height that divides 256:
/// `seq_len` itself up to 256, else 128 to 383.
[[nodiscard]] std::int64_t short_length(std::int64_t seq_len);

/// The problem with batch 1 and short_length(); with lengths of keys, a batch of four whose
/// sequences have all keys, none, one, and a number that fills no tile; of a packed problem, the
/// numbers of queries are such too. It is cheap to run, and often has the same machine code.
[[nodiscard]] Problem small_problem(const Problem& problem);

/// small_problem() with a window of a third of its keys. It exists only if the problem's own window
/// masks some of the problem's keys, but none of the small problem's; otherwise returns nothing. A
/// family that compiles the window in has different machine code for it.
[[nodiscard]] std::optional<Problem> narrow_problem(const Problem& problem);

// What code that reads, shows, stores or asks for the properties in kProblemDetails needs.

/// Precondition: a detail has this name.
[[nodiscard]] inline const ProblemDetail& find_detail(std::string_view name) {
  return *std::ranges::find(kProblemDetails, name, &ProblemDetail::name);
}

/// The problem with the same first six properties and usual details.
[[nodiscard]] inline Problem usual_problem(const Problem& problem) {
  return {problem.batch,  problem.seq_len, problem.heads,
          problem.d_head, problem.dtype,   problem.causal};
}
[[nodiscard]] inline bool is_unusual(const ProblemDetail& detail, const Problem& problem) {
  return detail.get(problem) != detail.get(usual_problem(problem));
}

/// Returns the problem after `change`, which may set any of the first six properties. Details that
/// were usual before are usual for the new problem.
[[nodiscard]] Problem changed(const Problem& problem, const std::function<void(Problem&)>& change);

/// An integer, a number, whether a flag is on, the layout's name, or canonical_lengths().
using DetailValue = std::variant<std::int64_t, double, bool, std::string>;

[[nodiscard]] DetailValue detail_value(const ProblemDetail& detail, const Problem& problem);
/// Throws Error(usage) for a value of another kind or out of range. An integer is a number too.
void set_detail(const ProblemDetail& detail, Problem& problem, const DetailValue& value);

/// The value as a problem holds it, in the detail's own kind: what detail_value() returns after
/// set_detail(). Throws as set_detail() does.
[[nodiscard]] DetailValue held_value(const ProblemDetail& detail, const DetailValue& value);

/// Values for some of the details, in the table's order.
using DetailValues = std::map<const ProblemDetail*, DetailValue>;

/// Reads the details of a problem that a JSON object has. Absent or null details are left out,
/// which means their usual values. Throws Error(usage) as set_detail() does.
[[nodiscard]] DetailValues read_details(const JsonNode& node);

/// Reads a problem from an object of an output. Older files have only the first six properties.
/// Throws Error(usage) as set_detail() does.
[[nodiscard]] Problem read_problem(const JsonNode& node);

/// "8192", "0.125", "bhsd"; empty for a flag.
[[nodiscard]] std::string detail_text(const ProblemDetail& detail, const Problem& problem);

/// The attention of a published model: a problem without batch and lengths.
struct ProblemPreset {
  std::string name;
  std::int64_t heads = 0;
  std::int64_t d_head = 0;
  DType dtype = DType::fp16;
  bool causal = false;
  DetailValues details;
  std::string note;    ///< what a problem cannot say about the model; may be empty
  std::string source;  ///< where the model's publisher states the values
};

}  // namespace fatune
