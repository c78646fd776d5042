#pragma once

#include <span>

#include "core/kernel_code.hpp"
#include "gpu/context.hpp"
#include "gpu/handle.hpp"
#include "gpu/module.hpp"

namespace fatune::gpu {

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

}  // namespace fatune::gpu
