// PyTorch's operators, defined through its stable interface: one build works with every PyTorch
// from 2.10 on.
#include <torch/csrc/stable/library.h>

#include <string>
#include <tuple>

#include "call.hpp"
#include "cuda_state.hpp"
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

/// Queues the kernel. Returns the reason if no kernel takes the call, else nullptr. Throws
/// std::runtime_error if CUDA fails.
const char* launch(const Call& call, const TorchTensor& o, const TorchTensor* lse) {
  if (const char* reason = refusal(call)) {
    return reason;
  }
  const std::int32_t device_index = call.q.get_device_index();
  ensure_context(device_index);
  void* stream = current_stream(device_index);
  const Problem problem = problem_of(call);
  const Tensors tensors = tensors_of(call, o, lse);
  const HeldWorkspace held =
      take_workspace(device_index, stream, workspace_bytes(problem, tensors));
  const Result result = attention_forward(problem, tensors, held.workspace, stream);
  if (result.status == Status::unsupported || result.status == Status::invalid_argument) {
    return result.reason;
  }
  STD_TORCH_CHECK(result, status_name(result.status), ": ", result.reason);
  return nullptr;
}

/// Calls an operator that Python implements: PyTorch's own attention. Its arguments are those of
/// forward() and the reason. It leaves its results at the start of the stack.
void call_fallback(const char* name, const Call& call, const char* reason, StableIValue* stack) {
  stack[0] = from(call.q);
  stack[1] = from(call.k);
  stack[2] = from(call.v);
  stack[3] = from(call.causal);
  stack[4] = from(call.window);
  stack[5] = from(call.scale);
  stack[6] = from(std::string(reason));
  STD_TORCH_CHECK(torch_call_dispatcher(name, "", stack, TORCH_ABI_VERSION) == TORCH_SUCCESS,
                  "PyTorch's own attention failed; its message is on standard error");
}

#define FATUNE_OPERATOR(name) C10_STRINGIZE(FATUNE_TORCH_NAMESPACE) "::" name

TorchTensor forward(const TorchTensor& q, const TorchTensor& k, const TorchTensor& v, bool causal,
                    std::int64_t window, std::optional<double> scale) {
  const Call call{q, k, v, causal, window, scale, false};
  check_operands(call);
  const DeviceGuard guard(q.get_device_index());
  TorchTensor o = empty_output(call);
  const char* reason = launch(call, o, nullptr);
  if (reason == nullptr) {
    return o;
  }
  StableIValue stack[7];
  call_fallback(FATUNE_OPERATOR("fallback"), call, reason, stack);
  return to<TorchTensor>(stack[0]);
}

std::tuple<TorchTensor, TorchTensor> forward_lse(const TorchTensor& q, const TorchTensor& k,
                                                 const TorchTensor& v, bool causal,
                                                 std::int64_t window, std::optional<double> scale) {
  const Call call{q, k, v, causal, window, scale, true};
  check_operands(call);
  const DeviceGuard guard(q.get_device_index());
  TorchTensor o = empty_output(call);
  TorchTensor lse = empty_lse(call);
  const char* reason = launch(call, o, &lse);
  if (reason == nullptr) {
    return {o, lse};
  }
  StableIValue stack[7];
  call_fallback(FATUNE_OPERATOR("fallback_lse"), call, reason, stack);
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
  return select(problem_of(call), tensors_of(call, empty_output(call), nullptr), device);
}

/// Returns lines "name=value" with the members of Selection.
std::string explain(const TorchTensor& q, const TorchTensor& k, const TorchTensor& v, bool causal,
                    std::int64_t window, std::optional<double> scale, bool lse) {
  const Call call{q, k, v, causal, window, scale, lse};
  check_operands(call);
  const DeviceGuard guard(q.get_device_index());
  Device device;
  const Selection selection = selection_of(call, device);
  return std::string("device=") + device.name + "\nstep=" + step_name(selection.step) +
         "\nconfig=" + selection.config + "\nreason=" + selection.reason +
         "\ntuned_us=" + std::to_string(selection.tuned_us) +
         "\nregret_percent=" + std::to_string(selection.regret_percent) +
         "\nworkspace_bytes=" + std::to_string(selection.workspace_bytes);
}

}  // namespace
}  // namespace fatune_attention::torch_binding

#define FATUNE_ARGUMENTS \
  "Tensor q, Tensor k, Tensor v, bool causal=False, int window=0, float? scale=None"

STABLE_TORCH_LIBRARY(FATUNE_TORCH_NAMESPACE, m) {
  m.def("forward(" FATUNE_ARGUMENTS ") -> Tensor");
  m.def("forward_lse(" FATUNE_ARGUMENTS ") -> (Tensor, Tensor)");
  m.def("explain(" FATUNE_ARGUMENTS ", bool lse=False) -> str");
  m.def("fallback(" FATUNE_ARGUMENTS ", str reason=\"\") -> Tensor");
  m.def("fallback_lse(" FATUNE_ARGUMENTS ", str reason=\"\") -> (Tensor, Tensor)");
}

STABLE_TORCH_LIBRARY_IMPL(FATUNE_TORCH_NAMESPACE, CUDA, m) {
  m.impl("forward", TORCH_BOX(&fatune_attention::torch_binding::forward));
  m.impl("forward_lse", TORCH_BOX(&fatune_attention::torch_binding::forward_lse));
  m.impl("explain", TORCH_BOX(&fatune_attention::torch_binding::explain));
}
