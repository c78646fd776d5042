#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "gpu/context.hpp"
#include "model/kernel_code.hpp"

namespace fatune::gpu {

void unload_module(void* module) noexcept;

/// The driver's attributes of a loaded kernel.
struct FunctionAttributes {
  int max_threads_per_block = 0;
  int registers_per_thread = 0;
  std::int64_t static_smem_bytes = 0;
};

/// A kernel of a loaded module; lives as long as the module. Throws DriverError.
class Function {
 public:
  [[nodiscard]] FunctionAttributes attributes() const;
  /// Allows blocks this much dynamic shared memory (more than 48 KiB needs an opt-in), and requests
  /// a shared-memory carveout. The default, a negative percentage, is the largest carveout, so that
  /// as many blocks as possible fit on an SM.
  void allow_dynamic_smem(std::int64_t bytes, std::int64_t carveout_percent = -1) const;
  /// Allows clusters of more than 8 blocks.
  void allow_large_clusters() const;
  [[nodiscard]] void* get() const noexcept { return function_; }

 private:
  friend class Module;
  explicit Function(void* function) noexcept : function_(function) {}
  void* function_;
};

/// Machine code loaded into the current context.
class Module {
 public:
  explicit Module(std::span<const char> cubin);

  /// Finds a kernel. If built with CUDA 12.4 or newer, loads its code now, even if the driver's
  /// default is to load it at the first launch, so that no sample pays for the loading.
  [[nodiscard]] Function function(const std::string& lowered_name) const;

 private:
  Handle<void*, unload_module> module_;
};

/// Queues a kernel. `arguments` point at the values, in the kernel's order. Throws DriverError if
/// the driver refuses the launch (too many threads or too much shared memory), Error(too_large) for
/// a geometry beyond 32 bits. Errors inside the kernel appear at a later synchronisation.
void launch(const Function& function, const LaunchGeometry& geometry, const Stream& stream,
            std::span<void*> arguments);

template <typename... Arguments>
void launch_with(const Function& function, const LaunchGeometry& geometry, const Stream& stream,
                 Arguments... values) {
  void* pointers[] = {&values..., nullptr};
  launch(function, geometry, stream, std::span<void*>(pointers, sizeof...(values)));
}

void destroy_graph(void* graph) noexcept;
void destroy_executable_graph(void* graph) noexcept;

/// Whether the driver has CUDA graphs (11.4 or newer). Throws Error(no_gpu) without a usable
/// driver.
[[nodiscard]] bool has_graphs();

/// A CUDA graph of one kernel, for repeated launches. It must not outlive the kernel's module, and
/// must live until its last launch has finished.
class KernelGraph {
 public:
  /// `arguments` are as for launch(); their values are copied. Throws DriverError if the driver
  /// refuses the graph, Error(too_large) for a geometry beyond 32 bits. Precondition: has_graphs().
  KernelGraph(const Function& function, const LaunchGeometry& geometry, std::span<void*> arguments);

  /// Queues the graph on the stream. Throws DriverError.
  void launch(const Stream& stream) const;

 private:
  Handle<void*, destroy_graph> graph_;
  Handle<void*, destroy_executable_graph> executable_;
};

/// Encodes the map with cuTensorMapEncodeTiled; its tensor begins at `address`. Throws DriverError,
/// whose call() has the figures, if the driver refuses the map; Error(gpu_failure) if the driver
/// has no tensor maps.
[[nodiscard]] TensorMapBytes encode_tensor_map(const TensorMapPiece& map, DevicePtr address);

/// The start of DriverError::call() when a map was refused.
inline constexpr const char* kTensorMapCall = "cuTensorMapEncodeTiled";

}  // namespace fatune::gpu
