#pragma once

#include <filesystem>
#include <optional>
#include <vector>

// Where NVIDIA's toolkits and Python packages are installed. The folders that are returned need not
// exist.
namespace fatune {

/// The entries of a folder, sorted by name with numbers by size (cuda-12.9 before cuda-13.0). Empty
/// if the folder cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> sorted_entries(
    const std::filesystem::path& folder);

/// The system's toolkits: /usr/local/cuda, then /usr/local/cuda-*, the newest first.
[[nodiscard]] std::vector<std::filesystem::path> system_toolkits();

/// The toolkits that the user chose: CUDA_HOME and CUDA_PATH, if they are set.
[[nodiscard]] std::vector<std::filesystem::path> chosen_toolkits();

/// The prefix that this program is installed under: /venv for /venv/bin/fatune.
[[nodiscard]] std::optional<std::filesystem::path> program_prefix();

/// The prefixes that Python packages are installed under: the virtual environment's, ~/.local,
/// /usr/local, /usr.
[[nodiscard]] std::vector<std::filesystem::path> python_prefixes();

/// The folders below `prefix` that Python packages are in, whether they exist or not:
/// <prefix>/lib/python3.*/site-packages, and the folder of `pip install --target <prefix>`.
[[nodiscard]] std::vector<std::filesystem::path> python_packages(
    const std::filesystem::path& prefix);

/// The folders of NVIDIA's Python packages below `prefix`.
[[nodiscard]] std::vector<std::filesystem::path> nvidia_packages(
    const std::filesystem::path& prefix);

}  // namespace fatune
