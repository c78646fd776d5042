#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/kernel_arguments.hpp"
#include "gpu/context.hpp"
#include "gpu/memory.hpp"

namespace fatune {

/// The time at which a workspace is filled again.
enum class ClearTime { before_launch, timed };

/// The device memory of a kernel's workspaces, each filled with its word. Outputs are not part of
/// it (output_set.hpp). Throws gpu::DriverError.
class KernelBuffers {
 public:
  explicit KernelBuffers(const std::vector<KernelBuffer>& buffers);

  [[nodiscard]] std::optional<gpu::DevicePtr> find(std::string_view name) const;
  /// Queues the filling of the workspaces that are filled at this time. Does not wait.
  void queue_clear(ClearTime time, const gpu::Stream& stream) const;

 private:
  struct Filled {
    KernelBuffer of;
    gpu::DeviceBuffer memory;
  };
  static void queue_fill(const Filled& buffer, const gpu::Stream& stream);

  std::vector<Filled> buffers_;
};

}  // namespace fatune
