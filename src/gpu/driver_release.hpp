#pragma once

#include <string>
#include <string_view>

namespace fatune::gpu {

/// The release of NVIDIA's kernel driver, as "580.159.04"; empty when there is none. The kernel
/// module says it (/proc/driver/nvidia/version), else NVML; NVML alone when FATUNE_LIBNVML names
/// one. Asked once for each process; loads no CUDA.
[[nodiscard]] const std::string& driver_release();

/// Reads the release from the kernel module's own text; empty when it has none.
[[nodiscard]] std::string read_driver_release(std::string_view text);

}  // namespace fatune::gpu
