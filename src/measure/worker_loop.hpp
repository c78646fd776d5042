#pragma once

#include <functional>
#include <memory>

#include "base/worker_process.hpp"
#include "measure/measurer.hpp"
#include "measure/worker_messages.hpp"
#include "model/device_limits.hpp"
#include "model/head_problem.hpp"
#include "model/kernel_code.hpp"

namespace fatune {

/// The device that a worker measures on.
class WorkerDevice {
 public:
  WorkerDevice() = default;
  WorkerDevice(const WorkerDevice&) = delete;
  WorkerDevice& operator=(const WorkerDevice&) = delete;
  virtual ~WorkerDevice() = default;

  /// The device's limits, with the memory that is free now.
  [[nodiscard]] virtual DeviceLimits limits() const = 0;
  [[nodiscard]] virtual Measurer& measurer() = 0;
  /// This and run_for_debug() throw gpu::DriverError.
  [[nodiscard]] virtual DeviceRates device_rates(const Artifact& kernel) = 0;
  [[nodiscard]] virtual DebugResult run_for_debug(const DebugRequest& request) = 0;
};

/// Opens the device. Throws an Error if it cannot be used.
using OpenDevice = std::function<std::unique_ptr<WorkerDevice>(const Hello&)>;

/// The worker's side of docs/worker-protocol.md: answers requests until "shutdown", the end of the
/// stream, or the loss of the GPU context. Throws ProtocolError if the parent does not follow the
/// protocol.
void serve(Channel& channel, const OpenDevice& open);

}  // namespace fatune
