#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/context.hpp"
#include "gpu/driver.hpp"
#include "gpu/module.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"

namespace fatune {

/// The time at which a workspace is filled again.
enum class ClearTime { before_launch, timed };

/// The device memory of a kernel's workspaces, each filled with its word. Outputs are not part of
/// it (tensors.hpp). Throws gpu::DriverError.
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

/// The limit of the device or of the kernel's machine code that a launch would break, with the
/// figures. Empty: the kernel can be launched.
[[nodiscard]] std::optional<std::string> broken_limit(const LaunchGeometry& geometry,
                                                      const gpu::FunctionAttributes& attributes,
                                                      const DeviceLimits& limits);

/// How a kernel is launched: by itself, or as a CUDA graph of one kernel.
enum class LaunchMode { plain, graph };

/// Returns the address of a tensor that a kernel is launched on. Empty: the name is unknown.
using TensorAddresses = std::function<std::optional<gpu::DevicePtr>(std::string_view name)>;

/// A loaded kernel with geometry and arguments, which can be queued repeatedly. It owns the memory
/// of the kernel's workspaces. It must not outlive the kernel's module, and must live until its
/// last run has finished. Throws gpu::DriverError, and Error(gpu_failure) if an argument refers to
/// a tensor that does not exist.
class KernelLaunch {
 public:
  /// Profilers show each launch in a range of this name.
  KernelLaunch(const gpu::Function& function, const LaunchGeometry& geometry,
               const TensorAddresses& tensors, LaunchMode mode, std::string range_name);

  [[nodiscard]] const std::vector<KernelBuffer>& buffers() const {
    return geometry_.arguments.buffers;
  }
  /// Queues the filling of the workspaces that are filled outside the timed part.
  void queue_preparation(const gpu::Stream& stream) const {
    buffers_.queue_clear(ClearTime::before_launch, stream);
  }
  /// Queues the timed part: the filling of the other workspaces, and the kernel. Precondition:
  /// queue_preparation() was called before it.
  void queue_timed(const gpu::Stream& stream) const;
  /// Queues the preparation and the timed part.
  void queue(const gpu::Stream& stream) const {
    queue_preparation(stream);
    queue_timed(stream);
  }

 private:
  gpu::Function function_;
  LaunchGeometry geometry_;
  KernelBuffers buffers_;
  std::vector<std::vector<std::uint8_t>> arguments_;
  std::optional<gpu::KernelGraph> graph_;
  std::string range_name_;
};

/// A candidate's kernel in the GPU's memory. Throws gpu::DriverError.
class LoadedKernel {
 public:
  explicit LoadedKernel(const Artifact& artifact)
      : module_(artifact.cubin), function_(module_.function(artifact.lowered_name)) {}

  /// Returns broken_limit() of the launch. If that is empty, opts into the shared memory that the
  /// launch needs.
  [[nodiscard]] std::optional<std::string> prepare(const LaunchGeometry& geometry,
                                                   const DeviceLimits& limits);
  /// Precondition: prepare() returned nothing for this geometry.
  [[nodiscard]] KernelLaunch launch(const LaunchGeometry& geometry, const TensorAddresses& tensors,
                                    LaunchMode mode, std::string range_name) const {
    return {function_, geometry, tensors, mode, std::move(range_name)};
  }

 private:
  gpu::Module module_;
  gpu::Function function_;
  std::int64_t allowed_smem_bytes_ = -1;  // -1: nothing opted into
};

/// The outcome of a driver error while a candidate was loaded, launched or waited for: Unlaunchable
/// if it was refused before anything ran, else Crashed.
[[nodiscard]] Outcome outcome_of(const gpu::DriverError& error);

}  // namespace fatune
