#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// The release of NVIDIA's kernel driver ("580.159.04"), from the text of its module
/// (/proc/driver/nvidia/version); empty if there is no driver.
[[nodiscard]] std::string module_driver_release();

/// Reads the release from the kernel module's text; empty if the text has none.
[[nodiscard]] std::string read_driver_release(std::string_view text);

}  // namespace fatune
