#include "engine/version_report.hpp"

#include <fmt/format.h>

#include "base/version.hpp"
#include "gpu/nvml.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {

std::string version_report() {
  const std::string& driver = gpu::driver_release();
  return fmt::format("fatune {}\ncommit {}\nbuild {}\nNVRTC {}\ndriver {}", version(),
                     build_commit(), FATUNE_BUILD_TYPE,
                     gpu::probe_nvrtc().usable() ? gpu::nvrtc_version_text() : "none",
                     driver.empty() ? "none" : driver);
}

}  // namespace fatune
