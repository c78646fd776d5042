#include "selection.hpp"

#include <algorithm>
#include <cstring>

#include "choose.hpp"
#include "facts.hpp"
#include "launch_builder.hpp"

namespace fatune_attention::detail {
namespace {

Answer refused_answer(const char* refusal) { return {-1, 0, refusal}; }

/// Returns null if the configuration runs on the device's architecture.
const char* fault_of_arch(const Configuration& configuration, int arch) {
  if (configuration.arch_specific && arch != configuration.min_arch) {
    return configuration.min_arch == 90
               ? "its kernels are only for compute capability 9.0 (sm_90a)"
               : "its kernels are only for one architecture, which this GPU does not have";
  }
  return arch >= configuration.min_arch ? nullptr : "its kernels need a newer GPU architecture";
}

/// Whether machine code runs on a GPU. The GPU must have the same major compute capability, and
/// must not be older.
bool runs_on(const MachineCode& code, int arch) {
  return code.arch / 10 == arch / 10 && code.arch <= arch;
}

/// Returns null if the launch is within the device's limits.
const char* fault_of_launch(const LaunchBuilder& builder, const MachineCode& code,
                            const Device& device) {
  const LaunchShape& shape = builder.shape();
  const std::int64_t smem_bytes = std::int64_t{shape.dynamic_smem_bytes} + code.static_smem_bytes;
  if (!builder.ok()) {
    return builder.failure();
  }
  if (shape.block.volume() >
      static_cast<std::uint64_t>(std::max(0, device.max_threads_per_block))) {
    return "it needs more threads per block than the GPU allows";
  }
  return smem_bytes <= device.smem_per_block_optin_bytes
             ? nullptr
             : "it needs more shared memory per block than the GPU has";
}

/// Checks everything except the launch. Returns null if nothing is wrong.
const char* fault_before_launch(const Configuration& configuration, const Request& request) {
  if (const char* fault = fault_of_arch(configuration, request.device->arch)) {
    return fault;
  }
  if (configuration.contiguous && !request.contiguous) {
    return "its kernels take only contiguous tensors";
  }
  return configuration.refusal(request.facts);
}

std::int64_t bits_of(float value) {
  std::int32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

Selection refused(const char* reason) {
  Selection selection;
  selection.reason = reason;
  return selection;
}

/// Why there is nothing to ask about, although the library has configurations.
const char* nothing_like(const Facts& facts) {
  return facts.kv_dtype == facts.dtype ? "no tuned problem has K and V of 16 bits"
                                       : "no tuned problem has K and V of this 8-bit type with "
                                         "such scales";
}

/// Asks about one configuration after another, and keeps the first reason why one is refused.
struct Questions {
  const Request& request;
  const char* first_refusal = kTable.configurations.count == 0 ? "the library has no configurations"
                                                               : nothing_like(request.facts);
  bool has_refused = false;

  bool operator()(int configuration) {
    const char* const refusal = ask(configuration, request).refusal;
    if (refusal != nullptr && !has_refused) {
      first_refusal = refusal;
      has_refused = true;
    }
    return refusal == nullptr;
  }
};

Selection selection_of(const Choice& choice, const Answer& answer, const Untuned& untuned,
                       bool has_lengths) {
  Selection selection;
  selection.untuned = untuned;
  selection.step = choice.step;
  selection.configuration = choice.configuration;
  selection.kernel = answer.kernel;
  selection.row = choice.row;
  selection.config = kTable.configurations[choice.configuration].name;
  selection.workspace_bytes = answer.workspace_bytes;
  selection.tuned_us = choice.predicted_us;
  if (choice.row >= 0) {
    const RowConfig& tuned = kTable.rows[choice.row].configs[choice.place];
    selection.tuned_us = tuned.time_us;
    if (!untuned && !has_lengths) {
      selection.regret_percent = tuned.regret_percent;
    }
  }
  return selection;
}

/// A request, as the table is asked about it.
struct Asked {
  const Problem like;  ///< problem_of_rows()
  const Wanted wanted;
  const TunedGpu gpu;

  Asked(const Problem& problem, const Request& request)
      : like(problem_of_rows(problem)),
        wanted{like, request.facts.layout_bhsd != 0.0, problem.has_seq_lens_kv},
        gpu{request.device->name, request.device->arch, request.device->sm_count} {}
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
};

/// Rounds up to a number of five significant bits: lengths that differ by 3 to 6 % or less.
std::int64_t nearly(std::int64_t keys) {
  constexpr int kBits = 5;
  std::int64_t unit = 1;
  while (keys > unit << kBits) {
    unit *= 2;
  }
  return (keys + unit - 1) / unit * unit;
}

}  // namespace

Request request_for(const Problem& problem, const Tensors& tensors, const Device& device) {
  const auto shaped = shaped_tensors(problem, tensors);
  const bool bhsd = is_layout_bhsd(shaped);
  const bool contiguous =
      std::all_of(shaped.begin(), shaped.end(),
                  [bhsd](const ShapedTensor& one) { return is_contiguous(one, bhsd); });
  return {facts_of(problem, tensors, device), &device, contiguous};
}

Answer ask(int configuration, const Request& request) {
  const Configuration& asked = kTable.configurations[configuration];
  if (const char* fault = fault_before_launch(asked, request)) {
    return refused_answer(fault);
  }
  const int kernel = asked.kernel(request.facts);
  if (kernel < 0 || !runs_on(kTable.kernels[kernel], request.device->arch)) {
    return refused_answer("the library lacks its machine code for such problems on this GPU");
  }
  LaunchBuilder builder;
  asked.launch(request.facts, builder);
  if (const char* fault = fault_of_launch(builder, kTable.kernels[kernel], *request.device)) {
    return refused_answer(fault);
  }
  return {kernel, builder.buffers().bytes(), nullptr};
}

bool find_time(int configuration, const Request& request, ModelTime& time) {
  const Configuration& asked = kTable.configurations[configuration];
  if (asked.time == nullptr) {
    return false;
  }
  TimeModel model;
  asked.time(request.facts, model);
  time = model_time(model);
  return time.clocks > 0.0;
}

MemoKey memo_key(const Problem& problem, const Tensors& tensors, int device_ordinal,
                 int candidates) {
  const Problem& p = problem;
  const Tensors& t = tensors;
  return {p.batch,
          p.heads,
          p.kv_heads,
          p.seq_len,
          p.seq_len_kv,
          p.d_head,
          p.d_head_v,
          p.window,
          static_cast<std::int64_t>(p.dtype),
          p.causal,
          p.lse,
          bits_of(p.softmax_scale),
          device_ordinal,
          t.q.row_stride,
          t.q.head_stride,
          t.q.batch_stride,
          t.k.row_stride,
          t.k.head_stride,
          t.k.batch_stride,
          t.v.row_stride,
          t.v.head_stride,
          t.v.batch_stride,
          t.o.row_stride,
          t.o.head_stride,
          t.o.batch_stride,
          p.has_seq_lens_kv,
          bits_of(p.softcap),
          p.has_sinks,
          p.page_size,
          p.pool_pages,
          p.is_packed,
          p.queries_total,
          p.keys_total,
          static_cast<std::int64_t>(p.kv_dtype),
          static_cast<std::int64_t>(p.kv_scales),
          candidates};
}

MemoKey trial_key(const Problem& problem, const Tensors& tensors, const Request& request,
                  int device_ordinal, int candidates) {
  if (!has_few_queries(problem_of_rows(problem))) {
    return memo_key(problem, tensors, device_ordinal, candidates);
  }
  Problem like = problem;
  like.seq_len_kv = nearly(problem.seq_len_kv);
  like.keys_total = nearly(problem.keys_total);
  like.pool_pages = 0;
  Tensors layouts;
  layouts.q.row_stride = request.contiguous ? 1 : 0;
  layouts.q.head_stride = request.facts.layout_bhsd != 0.0 ? 1 : 0;
  return memo_key(like, layouts, device_ordinal, candidates);
}

const Selection* SelectionMemo::find(const MemoKey& key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) {
      return &entry.selection;
    }
  }
  return nullptr;
}

const Selection& SelectionMemo::add(const MemoKey& key, const Selection& selection) {
  Entry& oldest = entries_[next_];
  next_ = (next_ + 1) % kMost;
  oldest.key = key;
  oldest.selection = selection;
  return oldest.selection;
}

SelectionMemo& selection_memo() {
  thread_local SelectionMemo memo;
  return memo;
}

std::size_t Selections::most_workspace_bytes() const {
  std::size_t most = 0;
  for (int i = 0; i < count; ++i) {
    most = std::max(most, items[static_cast<std::size_t>(i)].workspace_bytes);
  }
  return most;
}

bool Selections::change_to(const Problem& problem, const Request& request, int only) {
  Selections changed = *this;
  const Asked asked(problem, request);
  const Untuned is_untuned = untuned(kTable, asked.wanted, asked.gpu, items[0].step);
  for (int i = std::max(only, 0); i < (only < 0 ? count : only + 1); ++i) {
    Selection& one = changed.items[static_cast<std::size_t>(i)];
    const Answer answer = ask(one.configuration, request);
    if (answer.refusal != nullptr) {
      return false;
    }
    one.kernel = answer.kernel;
    one.workspace_bytes = answer.workspace_bytes;
    one.untuned = is_untuned;
  }
  *this = changed;
  return true;
}

Selections selections_for(const Problem& problem, const Request& request, int most) {
  const Asked asked(problem, request);
  Questions questions{request};
  Choice choice = choose(
      kTable, asked.wanted, asked.gpu, [&](int configuration) { return questions(configuration); },
      [&](int configuration, ModelTime& time) { return find_time(configuration, request, time); },
      most);
  Selections found;
  if (choice.configuration < 0) {
    found.items[0] = refused(questions.first_refusal);
    return found;
  }
  const Untuned is_untuned = untuned(kTable, asked.wanted, asked.gpu, choice.step);
  found.items[0] = selection_of(choice, ask(choice.configuration, request), is_untuned,
                                asked.like.has_seq_lens_kv);
  for (int i = 1; i < std::min(most, choice.fastest.count()); ++i) {
    choice.configuration = choice.fastest[i].configuration;
    choice.predicted_us = choice.fastest[i].us;
    found.items[static_cast<std::size_t>(found.count++)] = selection_of(
        choice, ask(choice.configuration, request), is_untuned, asked.like.has_seq_lens_kv);
  }
  return found;
}

}  // namespace fatune_attention::detail

namespace fatune_attention {

Selection select(const Problem& problem, const Device& device) {
  return select(problem, detail::usual_tensors(problem), device);
}

Selection select(const Problem& problem, const Tensors& tensors, const Device& device) {
  if (const char* fault = detail::fault_of_shape(problem, tensors)) {
    return detail::refused(fault);
  }
  return detail::selections_for(problem, detail::request_for(problem, tensors, device), 1).items[0];
}

}  // namespace fatune_attention
