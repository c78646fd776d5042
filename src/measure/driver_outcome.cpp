#include "measure/driver_outcome.hpp"

#include <string>

#include <fmt/format.h>

#include "gpu/tensor_map.hpp"

namespace fatune {
namespace {

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

Outcome outcome_of(const gpu::DriverError& error) {
  if (refused(error)) {
    return Unlaunchable{describe(error)};
  }
  return Crashed{describe(error)};
}

}  // namespace fatune
