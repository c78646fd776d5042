// The GPUs of this machine.
#pragma once

#include "attention.hpp"

namespace fatune_attention::detail {

inline constexpr int kMostDevices = 64;

/// The device of the current context.
struct CurrentDevice {
  int ordinal = -1;               ///< the driver's CUdevice, less than kMostDevices
  const Device* facts = nullptr;  ///< lives as long as the program
};

/// Finds the device of the current context. Asks the driver for a device's facts only once.
Result find_current_device(CurrentDevice& current);

}  // namespace fatune_attention::detail
