#include "measure/loaded_kernel.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "gpu/profiler.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kWordBytes = 4;

std::int64_t words_of(const KernelBuffer& buffer) {
  return (buffer.bytes + kWordBytes - 1) / kWordBytes;
}

constexpr std::int64_t kMaxGridX = 2147483647;
constexpr std::int64_t kMaxGridYZ = 65535;
constexpr std::int64_t kPortableCluster = 8;

using ArgumentBytes = std::vector<std::vector<std::uint8_t>>;

ArgumentBytes pack(const KernelArguments& arguments, const TensorAddresses& tensors,
                   const KernelBuffers& buffers) {
  const auto address_of = [&](const std::string& name) {
    const auto buffer = buffers.find(name);
    const auto address = buffer ? buffer : tensors(name);
    if (!address) {
      throw Error(ExitCode::gpu_failure, fmt::format("there is no tensor '{}' here", name));
    }
    return *address;
  };
  const ArgumentEncoder encoder{address_of, &gpu::encode_tensor_map};
  return mapped(arguments.list,
                [&](const KernelArgument& argument) { return pack_argument(argument, encoder); });
}

/// Pointers to the arguments, as the driver takes them; it does not write there. There is one more,
/// so that there is always an address.
std::vector<void*> pointers_to(const ArgumentBytes& arguments) {
  std::vector<void*> pointers;
  for (const std::vector<std::uint8_t>& argument : arguments) {
    pointers.push_back(const_cast<std::uint8_t*>(argument.data()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::string describe(const gpu::DriverError& error) {
  return fmt::format("{}: {} ({})", error.name(), error.text(), error.call());
}

// Whether the launch was refused before anything ran: the machine code or the launch does not suit
// the device.
bool refused(const gpu::DriverError& error) {
  return !error.sticky() &&
         (error.out_of_memory() || error.call() == "cuLaunchKernel" ||
          error.call() == "cuFuncSetAttribute" || error.call() == "cuModuleLoadData" ||
          error.call() == "cuLaunchKernelEx" || error.call() == "cuGraphKernelNodeSetAttribute" ||
          error.call().starts_with(gpu::kTensorMapCall) || error.call() == "cuGraphAddKernelNode" ||
          error.call() == "cuGraphInstantiateWithFlags" || error.call() == "cuGraphLaunch");
}

}  // namespace

KernelBuffers::KernelBuffers(const std::vector<KernelBuffer>& buffers) {
  if (buffers.empty()) {
    return;
  }
  const gpu::Stream stream;
  for (const KernelBuffer& buffer : buffers) {
    if (!buffer.output.empty()) {
      continue;
    }
    buffers_.push_back({buffer, gpu::DeviceBuffer(words_of(buffer) * kWordBytes)});
    queue_fill(buffers_.back(), stream);
  }
  stream.synchronize();
}

void KernelBuffers::queue_fill(const Filled& buffer, const gpu::Stream& stream) {
  gpu::fill_words_async(buffer.memory.address(), buffer.of.word, words_of(buffer.of), stream);
}

std::optional<gpu::DevicePtr> KernelBuffers::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(buffers_, [&](const Filled& buffer) { return buffer.of.name == name; });
  return found == buffers_.end() ? std::nullopt : std::optional(found->memory.address());
}

void KernelBuffers::queue_clear(ClearTime time, const gpu::Stream& stream) const {
  for (const Filled& buffer : buffers_) {
    if (buffer.of.clear == (time == ClearTime::timed ? "timed" : "before_launch")) {
      queue_fill(buffer, stream);
    }
  }
}

std::optional<std::string> broken_limit(const LaunchGeometry& geometry,
                                        const gpu::FunctionAttributes& attributes,
                                        const DeviceLimits& limits) {
  const std::int64_t threads = thread_count(geometry);
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
                           const TensorAddresses& tensors, LaunchMode mode, std::string range_name)
    : function_(function),
      geometry_(geometry),
      buffers_(geometry.arguments.buffers),
      arguments_(pack(geometry.arguments, tensors, buffers_)),
      range_name_(std::move(range_name)) {
  if (mode == LaunchMode::graph) {
    std::vector<void*> pointers = pointers_to(arguments_);
    graph_.emplace(function_, geometry_, pointers);
  }
}

void KernelLaunch::queue_timed(const gpu::Stream& stream) const {
  buffers_.queue_clear(ClearTime::timed, stream);
  const gpu::NvtxRange range(range_name_);
  if (graph_) {
    graph_->launch(stream);
  } else {
    std::vector<void*> pointers = pointers_to(arguments_);
    gpu::launch(function_, geometry_, stream, pointers);
  }
}

std::optional<std::string> LoadedKernel::prepare(const LaunchGeometry& geometry,
                                                 const DeviceLimits& limits) {
  std::optional<std::string> broken = broken_limit(geometry, function_.attributes(), limits);
  if (!broken && geometry.dynamic_smem_bytes > allowed_smem_bytes_) {
    function_.allow_dynamic_smem(geometry.dynamic_smem_bytes,
                                 geometry.attributes.smem_carveout_percent);
    allowed_smem_bytes_ = geometry.dynamic_smem_bytes;
  }
  const auto& cluster = geometry.cluster;
  if (!broken && cluster[0] * cluster[1] * cluster[2] > kPortableCluster) {
    function_.allow_large_clusters();
  }
  return broken;
}

Outcome outcome_of(const gpu::DriverError& error) {
  if (refused(error)) {
    return Unlaunchable{describe(error)};
  }
  return Crashed{describe(error)};
}

}  // namespace fatune
