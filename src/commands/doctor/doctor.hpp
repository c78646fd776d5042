#pragma once

#include "model/device_limits.hpp"
#include "print/document/document.hpp"

namespace fatune {

struct ListedDevice {
  int index = 0;
  DeviceLimits limits;
  std::string unusable_because;  ///< empty: usable
};

struct DeviceReport {
  std::string driver;  ///< one line: version, or why there is none
  std::string remedy;  ///< what to do about it; empty when nothing
  std::vector<ListedDevice> devices;
};

[[nodiscard]] Document device_document(const DeviceReport& report);

}  // namespace fatune
