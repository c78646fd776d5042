#pragma once

#include <string>
#include <vector>

#include "model/device_limits.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

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
/// The columns of the GPUs' limits.
[[nodiscard]] Fields<DeviceLimits> device_fields();

enum class Health {
  fine,
  limited,  ///< works, but something that depends on this is not available
  broken,   ///< fatune cannot do its job
};

struct Check {
  std::string subject;  ///< "NVRTC", "cubin cache"
  Health health = Health::fine;
  std::string finding;
  std::string remedy;  ///< empty when there is nothing to do
};

[[nodiscard]] Document doctor_document(const std::vector<Check>& checks);

}  // namespace fatune
