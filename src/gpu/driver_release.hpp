#pragma once

#include <string>

namespace fatune::gpu {

/// The release of NVIDIA's kernel driver, such as "580.159.04"; empty if there is none. It is read
/// from the kernel module (/proc/driver/nvidia/version), else from NVML; from NVML alone if
/// FATUNE_LIBNVML names a library. It is read once per process and loads no CUDA.
[[nodiscard]] const std::string& driver_release();

}  // namespace fatune::gpu
