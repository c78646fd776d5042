#pragma once

#include <optional>
#include <string>

#include "common/attention_args.h"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "gpu/context.hpp"
#include "gpu/module.hpp"

namespace fatune {

/// Which limit of the device or of the kernel's machine code a launch would break, with the
/// figures; nothing when it can be launched.
[[nodiscard]] std::optional<std::string> broken_limit(const LaunchGeometry& geometry,
                                                      const gpu::FunctionAttributes& attributes,
                                                      const DeviceLimits& limits);

/// A candidate's kernel in the GPU's memory, with its geometry and argument. Throws
/// gpu::DriverError.
class LoadedKernel {
 public:
  LoadedKernel(const Artifact& artifact, const LaunchGeometry& geometry,
               const AttentionForwardArgs& args);

  /// As above. Opts into the shared memory that it needs when nothing is broken.
  [[nodiscard]] std::optional<std::string> prepare(const DeviceLimits& limits) const;
  /// Queues it. Precondition: prepare() found nothing.
  void launch(const gpu::Stream& stream) const;

 private:
  gpu::Module module_;
  gpu::Function function_;
  LaunchGeometry geometry_;
  AttentionForwardArgs args_;
};

}  // namespace fatune
