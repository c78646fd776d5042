// The contents of a generated library: its tables, and how each configuration is launched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "attention.hpp"
#include "time_model.hpp"

namespace fatune_attention::detail {

class LaunchBuilder;

/// The values that a family's expressions may name, under the names that they have there. See
/// docs/bring-your-own-kernel.md. Strides are in elements. Nothing here depends on the values of
/// lengths: unless the batch is packed, `keys_total` is the most that sequences can have. `latent`
/// stays 0: exported libraries take V as a tensor of its own. So does `scale_block`: they take no Q
/// of 8 bits.
struct Facts {
  double batch = 0, seq_len = 0, heads = 0, causal = 0, dtype = 0, d_head = 0;
  double seq_len_kv = 0, kv_heads = 0, d_head_v = 0, window = 0, softmax_scale = 0, lse = 0;
  double has_seq_lens_kv = 0, keys_total = 0, softcap = 0, sinks = 0;
  double page_size = 0, pool_pages = 0;
  double has_seq_lens = 0, queries_total = 0, latent = 0;
  double kv_dtype = 0, kv_scales = 0, scale_block = 0;
  double layout_bhsd = 0;
  double q_row_stride = 0, q_head_stride = 0, q_batch_stride = 0;
  double k_row_stride = 0, k_head_stride = 0, k_batch_stride = 0;
  double v_row_stride = 0, v_head_stride = 0, v_batch_stride = 0;
  double o_row_stride = 0, o_head_stride = 0, o_batch_stride = 0;
  double arch = 0, sm_count = 0, smem_per_sm_bytes = 0, smem_per_block_optin_bytes = 0;
  double registers_per_sm = 0, max_threads_per_sm = 0;
  double resident_blocks_per_sm = 1;
};

/// One configuration of a family: functions that fatune generated from its family.json.
struct Configuration {
  const char* name;  ///< in short form
  const char* family;
  int min_arch;        ///< 90
  bool arch_specific;  ///< true for sm_90a: runs on no other architecture
  bool contiguous;     ///< its kernels take only contiguous tensors, in either layout
  /// Returns why the configuration cannot be used, or nullptr if it can.
  const char* (*refusal)(const Facts&);
  /// Returns the index of the machine code for such problems; -1: none was built.
  int (*kernel)(const Facts&);
  /// Describes the launch, and the workspace, to the builder.
  void (*launch)(const Facts&, LaunchBuilder&);
  /// Evaluates the family's model of its time. Null: it has none.
  void (*time)(const Facts&, TimeModel&);
};

/// The machine code of one kernel.
struct MachineCode {
  const unsigned char* cubin;
  std::size_t bytes;
  const char* sha256;  ///< of the cubin
  int arch;            ///< 90: the cubin's; runs on GPUs of that major version, not on older ones
  const char* entry;   ///< the mangled name of the kernel
  int registers_per_thread;
  int static_smem_bytes;
};

/// A GPU that problems were tuned on.
struct TunedGpu {
  const char* name;
  int arch;  ///< 90
  int sm_count;
};

/// One configuration of a row.
struct RowConfig {
  int configuration;
  double time_us;         ///< median
  double regret_percent;  ///< how much slower it is than the row's winner
};

/// A tuned problem.
struct Row {
  int gpu;
  Problem problem;
  bool layout_bhsd;
  const RowConfig* configs;  ///< best first
  int config_count;
};

/// The type of K and V, and whether keys of one head have different scales. Problems that differ in
/// these share neither machine code nor times.
struct KvKind {
  KvDType dtype = KvDType::of_q;
  bool key_scales = false;
};
constexpr bool operator==(const KvKind& a, const KvKind& b) {
  return a.dtype == b.dtype && a.key_scales == b.key_scales;
}

/// The configuration for problems that are not near any row.
struct Default {
  int gpu;
  DType dtype;
  std::int64_t d_head;
  std::int64_t d_head_v;
  bool causal;
  bool few_queries;  ///< for decoding (has_few_queries() of choose.hpp); false: for more queries
  int configuration;
  KvKind kv{};
};

/// What problems that differ only in their numbers have in common: element type, d_head, d_head_v,
/// whether they have a softcap, sinks, and few queries; the members of KvKind; unless they have few
/// queries, whether they are causal, and whether they have a window.
using Kind = std::array<std::int64_t, 10>;

/// What the fit of a configuration tells apart, and what it does not: parameters such as the length
/// of parts, of which the model of its family says all.
struct FitKey {
  int like;    ///< the same for configurations that share a fit; -1: this one has none
  int rest;    ///< the same for those that are equal in the parameters that fits do not tell apart
  int family;  ///< the same for those of one family
};

/// What measured times on a GPU say of a configuration's time on problems of a kind.
struct Fit {
  int gpu;
  Kind kind;
  int configuration;
  TimeFit time;
};

template <typename Item>
struct List {
  const Item* items;
  int count;

  const Item& operator[](int index) const { return items[index]; }
};

struct Table {
  List<MachineCode> kernels;
  List<Configuration> configurations;
  List<TunedGpu> gpus;
  List<Row> rows;
  List<Default> defaults;
  List<Fit> fits;
  List<FitKey> fit_keys;  ///< of each configuration, if there are fits
};

/// Defined by the generated source.
extern const Table kTable;  // NOLINT(readability-identifier-naming): a constant

}  // namespace fatune_attention::detail
