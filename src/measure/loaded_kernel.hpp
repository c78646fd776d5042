#pragma once

#include <optional>
#include <string>

#include "common/attention_args.h"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "gpu/context.hpp"
#include "gpu/graph.hpp"
#include "gpu/module.hpp"

namespace fatune {

/// Which limit of the device or of the kernel's machine code a launch would break, with the
/// figures; nothing when it can be launched.
[[nodiscard]] std::optional<std::string> broken_limit(const LaunchGeometry& geometry,
                                                      const gpu::FunctionAttributes& attributes,
                                                      const DeviceLimits& limits);

/// How a kernel is launched: by itself, or as a CUDA graph of one kernel.
enum class LaunchMode { plain, graph };

/// A loaded kernel with geometry and argument: what can be queued again and again. Lives no longer
/// than the kernel's module, and at least until its last run has finished. Throws
/// gpu::DriverError.
class KernelLaunch {
 public:
  /// Profilers show each launch in a range of this name.
  KernelLaunch(const gpu::Function& function, const LaunchGeometry& geometry,
               const AttentionForwardArgs& args, LaunchMode mode, std::string range_name);

  void queue(const gpu::Stream& stream) const;

 private:
  gpu::Function function_;
  LaunchGeometry geometry_;
  AttentionForwardArgs args_;
  std::optional<gpu::KernelGraph> graph_;
  std::string range_name_;
};

/// A candidate's kernel in the GPU's memory. Throws gpu::DriverError.
class LoadedKernel {
 public:
  explicit LoadedKernel(const Artifact& artifact);

  /// As above. Opts into the shared memory that it needs when nothing is broken.
  [[nodiscard]] std::optional<std::string> prepare(const LaunchGeometry& geometry,
                                                   const DeviceLimits& limits);
  /// Precondition: prepare() found nothing for this geometry.
  [[nodiscard]] KernelLaunch launch(const LaunchGeometry& geometry,
                                    const AttentionForwardArgs& args, LaunchMode mode,
                                    std::string range_name) const;
  /// For a launch with another argument; as for launch().
  [[nodiscard]] const gpu::Function& function() const noexcept { return function_; }

 private:
  gpu::Module module_;
  gpu::Function function_;
  std::int64_t allowed_smem_bytes_ = -1;  // nothing opted into
};

}  // namespace fatune
