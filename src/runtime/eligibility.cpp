#include "eligibility.hpp"

#include <algorithm>

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

}  // namespace fatune_attention::detail
