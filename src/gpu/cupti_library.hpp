#pragma once

#include <filesystem>
#include <vector>

namespace fatune::gpu {

/// The places where CUPTI's library may be, best first: beside the NVRTC that this program uses and
/// in the folders that toolkits and NVIDIA's PyPI wheels have for it, then by the loader's search
/// path, then in /usr/local/cuda*. Some are bare names; none need exist.
[[nodiscard]] std::vector<std::filesystem::path> cupti_candidates(
    const std::filesystem::path& nvrtc_folder);

}  // namespace fatune::gpu
