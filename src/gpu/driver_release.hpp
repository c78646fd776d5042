#pragma once

#include <string>

namespace fatune::gpu {

/// The release of NVIDIA's kernel driver, as "580.159.04"; empty when there is none. The kernel
/// module says it (/proc/driver/nvidia/version), else NVML; NVML alone when FATUNE_LIBNVML names
/// one. Asked once for each process; loads no CUDA.
[[nodiscard]] const std::string& driver_release();

}  // namespace fatune::gpu
