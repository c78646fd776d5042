#include "measure/loaded_kernel.hpp"

#include <fmt/format.h>

#include <utility>

#include "gpu/nvtx.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMaxGridX = 2147483647;
constexpr std::int64_t kMaxGridYZ = 65535;

}  // namespace

std::optional<std::string> broken_limit(const LaunchGeometry& geometry,
                                        const gpu::FunctionAttributes& attributes,
                                        const DeviceLimits& limits) {
  const std::int64_t threads = geometry.block[0] * geometry.block[1] * geometry.block[2];
  const std::int64_t smem_bytes = geometry.dynamic_smem_bytes + attributes.static_smem_bytes;
  if (threads > attributes.max_threads_per_block) {
    return fmt::format("{} threads per block; with {} registers per thread at most {} can run",
                       threads, attributes.registers_per_thread, attributes.max_threads_per_block);
  }
  if (smem_bytes > limits.smem_per_block_optin_bytes) {
    return fmt::format("{} bytes of shared memory per block; {} allows {}", smem_bytes, limits.name,
                       limits.smem_per_block_optin_bytes);
  }
  if (geometry.grid[0] > kMaxGridX || geometry.grid[1] > kMaxGridYZ ||
      geometry.grid[2] > kMaxGridYZ) {
    return fmt::format("a grid of {} x {} x {} blocks; CUDA allows {} x {} x {}", geometry.grid[0],
                       geometry.grid[1], geometry.grid[2], kMaxGridX, kMaxGridYZ, kMaxGridYZ);
  }
  return std::nullopt;
}

KernelLaunch::KernelLaunch(const gpu::Function& function, const LaunchGeometry& geometry,
                           const AttentionForwardArgs& args, LaunchMode mode,
                           std::string range_name)
    : function_(function), geometry_(geometry), args_(args), range_name_(std::move(range_name)) {
  if (mode == LaunchMode::graph) {
    graph_ = gpu::graph_with(function_, geometry_, args_);
  }
}

void KernelLaunch::queue(const gpu::Stream& stream) const {
  const gpu::NvtxRange range(range_name_);
  if (graph_) {
    graph_->launch(stream);
  } else {
    gpu::launch_with(function_, geometry_, stream, args_);
  }
}

LoadedKernel::LoadedKernel(const Artifact& artifact)
    : module_(artifact.cubin), function_(module_.function(artifact.lowered_name)) {}

std::optional<std::string> LoadedKernel::prepare(const LaunchGeometry& geometry,
                                                 const DeviceLimits& limits) {
  std::optional<std::string> broken = broken_limit(geometry, function_.attributes(), limits);
  if (!broken && geometry.dynamic_smem_bytes > allowed_smem_bytes_) {
    function_.allow_dynamic_smem(geometry.dynamic_smem_bytes);
    allowed_smem_bytes_ = geometry.dynamic_smem_bytes;
  }
  return broken;
}

KernelLaunch LoadedKernel::launch(const LaunchGeometry& geometry, const AttentionForwardArgs& args,
                                  LaunchMode mode, std::string range_name) const {
  return {function_, geometry, args, mode, std::move(range_name)};
}

}  // namespace fatune
