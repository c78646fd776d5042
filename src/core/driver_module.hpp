#pragma once

#include <string>
#include <string_view>

namespace fatune {

/// The release of NVIDIA's kernel driver, as "580.159.04", by the text of its module
/// (/proc/driver/nvidia/version); empty where there is none.
[[nodiscard]] std::string module_driver_release();

/// Reads the release from the kernel module's own text; empty when it has none.
[[nodiscard]] std::string read_driver_release(std::string_view text);

}  // namespace fatune
