// PyTorch's operators, defined through its stable interface: one build works with every PyTorch
// from 2.10 on.
#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "call.hpp"
#include "driver.hpp"
#include "workspaces.hpp"

// The package's name.
#ifndef FATUNE_TORCH_NAMESPACE
#define FATUNE_TORCH_NAMESPACE fatune_attention
#endif

namespace fatune_attention::torch_binding {
namespace {

using torch::stable::accelerator::DeviceGuard;
using torch::stable::detail::from;
using torch::stable::detail::to;

/// Why PyTorch's own attention is to compute a call. Calls of one kind are warned of once.
struct Fallback {
  std::string reason;
  std::string kind;
};

Fallback fallback_for(const char* reason) { return {reason, reason}; }

int candidates_of(const Call& call) {
  return static_cast<int>(std::clamp<std::int64_t>(call.candidates, 1, kMostCandidates));
}

/// Queues the kernel. Returns why it does not, if no kernel takes the call or nothing that was
/// tuned is like it. Throws std::runtime_error if CUDA fails.
std::optional<Fallback> launch(const Call& call, const TorchTensor& o, const TorchTensor* lse) {
  if (const char* reason = refusal(call)) {
    return fallback_for(reason);
  }
  const std::int32_t device_index = call.q.get_device_index();
  ensure_context(device_index);
  void* stream = current_stream(device_index);
  const Problem problem = problem_of(call);
  const Tensors tensors = tensors_of(call, o, lse);
  const int candidates = candidates_of(call);
  Selection chosen;
  Result result = select_here(problem, tensors, chosen, candidates);
  if (result && chosen.untuned && !call.allow_untuned) {
    return Fallback{std::string("no tuned problem is like this one (") + chosen.untuned.text + ")",
                    chosen.untuned.property};
  }
  if (result) {
    const HeldWorkspace held = take_workspace(device_index, stream, chosen.workspace_bytes);
    result = attention_forward(problem, tensors, held.workspace, stream, candidates);
  }
  if (result.status == Status::unsupported || result.status == Status::invalid_argument) {
    return fallback_for(result.reason);
  }
  STD_TORCH_CHECK(result, status_name(result.status), ": ", result.reason);
  return std::nullopt;
}

/// Calls an operator that Python implements: PyTorch's own attention. It leaves its results at the
/// start of the stack, which has room for kFallbackArguments.
constexpr std::size_t kFallbackArguments = 18;
void call_fallback(const char* name, const Call& call, const Fallback& why, StableIValue* stack) {
  stack[0] = from(call.q);
  stack[1] = from(call.k);
  stack[2] = from(call.v);
  stack[3] = from(call.causal);
  stack[4] = from(call.window);
  stack[5] = from(call.scale);
  stack[6] = from(call.seq_lens_kv);
  stack[7] = from(call.softcap);
  stack[8] = from(call.sinks);
  stack[9] = from(call.page_table);
  stack[10] = from(call.cu_seqlens_q);
  stack[11] = from(call.cu_seqlens_kv);
  stack[12] = from(call.max_seqlen_q);
  stack[13] = from(call.max_seqlen_kv);
  stack[14] = from(call.k_descale);
  stack[15] = from(call.v_descale);
  stack[16] = from(why.reason);
  stack[17] = from(why.kind);
  STD_TORCH_CHECK(torch_call_dispatcher(name, "", stack, TORCH_ABI_VERSION) == TORCH_SUCCESS,
                  "PyTorch's own attention failed; its message is on standard error");
}

#define FATUNE_OPERATOR(name) C10_STRINGIZE(FATUNE_TORCH_NAMESPACE) "::" name

TorchTensor forward(const TorchTensor& q, const TorchTensor& k, const TorchTensor& v, bool causal,
                    std::int64_t window, std::optional<double> scale, bool allow_untuned,
                    const std::optional<TorchTensor>& seq_lens_kv, double softcap,
                    const std::optional<TorchTensor>& sinks,
                    const std::optional<TorchTensor>& page_table,
                    const std::optional<TorchTensor>& cu_seqlens_q,
                    const std::optional<TorchTensor>& cu_seqlens_kv, std::int64_t max_seqlen_q,
                    std::int64_t max_seqlen_kv, const std::optional<TorchTensor>& k_descale,
                    const std::optional<TorchTensor>& v_descale, std::int64_t candidates) {
  const Call call{q,
                  k,
                  v,
                  causal,
                  window,
                  scale,
                  false,
                  allow_untuned,
                  seq_lens_kv,
                  softcap,
                  sinks,
                  page_table,
                  cu_seqlens_q,
                  cu_seqlens_kv,
                  max_seqlen_q,
                  max_seqlen_kv,
                  k_descale,
                  v_descale,
                  candidates};
  check_operands(call);
  const DeviceGuard guard(q.get_device_index());
  TorchTensor o = empty_output(call);
  const std::optional<Fallback> why = launch(call, o, nullptr);
  if (!why) {
    return o;
  }
  StableIValue stack[kFallbackArguments];
  call_fallback(FATUNE_OPERATOR("fallback"), call, *why, stack);
  return to<TorchTensor>(stack[0]);
}

std::tuple<TorchTensor, TorchTensor> forward_lse(
    const TorchTensor& q, const TorchTensor& k, const TorchTensor& v, bool causal,
    std::int64_t window, std::optional<double> scale, bool allow_untuned,
    const std::optional<TorchTensor>& seq_lens_kv, double softcap,
    const std::optional<TorchTensor>& sinks, const std::optional<TorchTensor>& page_table,
    const std::optional<TorchTensor>& cu_seqlens_q, const std::optional<TorchTensor>& cu_seqlens_kv,
    std::int64_t max_seqlen_q, std::int64_t max_seqlen_kv,
    const std::optional<TorchTensor>& k_descale, const std::optional<TorchTensor>& v_descale,
    std::int64_t candidates) {
  const Call call{q,
                  k,
                  v,
                  causal,
                  window,
                  scale,
                  true,
                  allow_untuned,
                  seq_lens_kv,
                  softcap,
                  sinks,
                  page_table,
                  cu_seqlens_q,
                  cu_seqlens_kv,
                  max_seqlen_q,
                  max_seqlen_kv,
                  k_descale,
                  v_descale,
                  candidates};
  check_operands(call);
  const DeviceGuard guard(q.get_device_index());
  TorchTensor o = empty_output(call);
  TorchTensor lse = empty_lse(call);
  const std::optional<Fallback> why = launch(call, o, &lse);
  if (!why) {
    return {o, lse};
  }
  StableIValue stack[kFallbackArguments];
  call_fallback(FATUNE_OPERATOR("fallback_lse"), call, *why, stack);
  return {to<TorchTensor>(stack[0]), to<TorchTensor>(stack[1])};
}

Selection selection_of(const Call& call, Device& device) {
  Selection selection;
  selection.reason = refusal(call);
  if (selection.reason != nullptr) {
    return selection;
  }
  ensure_context(call.q.get_device_index());
  const Result found = current_device(device);
  STD_TORCH_CHECK(found, status_name(found.status), ": ", found.reason);
  const Tensors tensors = tensors_of(call, empty_output(call), nullptr);
  select_here(problem_of(call), tensors, selection, candidates_of(call));
  return selection;
}

/// Returns lines "name=value" with the members of Selection.
std::string explain(const TorchTensor& q, const TorchTensor& k, const TorchTensor& v, bool causal,
                    std::int64_t window, std::optional<double> scale, bool allow_untuned,
                    const std::optional<TorchTensor>& seq_lens_kv, double softcap,
                    const std::optional<TorchTensor>& sinks,
                    const std::optional<TorchTensor>& page_table,
                    const std::optional<TorchTensor>& cu_seqlens_q,
                    const std::optional<TorchTensor>& cu_seqlens_kv, std::int64_t max_seqlen_q,
                    std::int64_t max_seqlen_kv, const std::optional<TorchTensor>& k_descale,
                    const std::optional<TorchTensor>& v_descale, std::int64_t candidates,
                    bool lse) {
  const Call call{q,
                  k,
                  v,
                  causal,
                  window,
                  scale,
                  lse,
                  allow_untuned,
                  seq_lens_kv,
                  softcap,
                  sinks,
                  page_table,
                  cu_seqlens_q,
                  cu_seqlens_kv,
                  max_seqlen_q,
                  max_seqlen_kv,
                  k_descale,
                  v_descale,
                  candidates};
  check_operands(call);
  const DeviceGuard guard(q.get_device_index());
  Device device;
  const Selection selection = selection_of(call, device);
  return std::string("device=") + device.name + "\nstep=" + step_name(selection.step) +
         "\nconfig=" + selection.config + "\nreason=" + selection.reason +
         "\ntuned_us=" + std::to_string(selection.tuned_us) +
         "\nregret_percent=" + std::to_string(selection.regret_percent) +
         "\nuntuned=" + selection.untuned.text + "\ntried=" + std::to_string(selection.tried) +
         "\nworkspace_bytes=" + std::to_string(selection.workspace_bytes);
}

}  // namespace
}  // namespace fatune_attention::torch_binding

#define FATUNE_OPERANDS \
  "Tensor q, Tensor k, Tensor v, bool causal=False, int window=0, float? scale=None"
#define FATUNE_FURTHER                                                          \
  ", Tensor? seq_lens_kv=None, float softcap=0.0, Tensor? sinks=None"           \
  ", Tensor? page_table=None, Tensor? cu_seqlens_q=None, Tensor? cu_seqlens_kv" \
  "=None, int max_seqlen_q=0, int max_seqlen_kv=0"                              \
  ", Tensor? k_descale=None, Tensor? v_descale=None"
#define FATUNE_ARGUMENTS \
  FATUNE_OPERANDS ", bool allow_untuned=False" FATUNE_FURTHER ", *, int candidates=1"
#define FATUNE_FALLBACK FATUNE_OPERANDS FATUNE_FURTHER ", str reason=\"\", str kind=\"\""

STABLE_TORCH_LIBRARY(FATUNE_TORCH_NAMESPACE, m) {
  m.def("forward(" FATUNE_ARGUMENTS ") -> Tensor");
  m.def("forward_lse(" FATUNE_ARGUMENTS ") -> (Tensor, Tensor)");
  m.def("explain(" FATUNE_ARGUMENTS ", bool lse=False) -> str");
  m.def("fallback(" FATUNE_FALLBACK ") -> Tensor");
  m.def("fallback_lse(" FATUNE_FALLBACK ") -> (Tensor, Tensor)");
}

STABLE_TORCH_LIBRARY_IMPL(FATUNE_TORCH_NAMESPACE, CUDA, m) {
  m.impl("forward", TORCH_BOX(&fatune_attention::torch_binding::forward));
  m.impl("forward_lse", TORCH_BOX(&fatune_attention::torch_binding::forward_lse));
  m.impl("explain", TORCH_BOX(&fatune_attention::torch_binding::explain));
}
