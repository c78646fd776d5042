#pragma once

#include <filesystem>
#include <optional>
#include <vector>

// Where NVIDIA's toolkits and Python packages are installed. Folders that are named need not exist.
namespace fatune {

/// The entries of a folder by name, with numbers as people count (cuda-12.9 before cuda-13.0); none
/// where it cannot be read.
[[nodiscard]] std::vector<std::filesystem::path> sorted_entries(
    const std::filesystem::path& folder);

/// Toolkits of the system: /usr/local/cuda, then /usr/local/cuda-*, the newest first.
[[nodiscard]] std::vector<std::filesystem::path> system_toolkits();

/// Toolkits that the user chose: CUDA_HOME and CUDA_PATH, where they are set.
[[nodiscard]] std::vector<std::filesystem::path> chosen_toolkits();

/// The folder that this program is installed below: /venv for /venv/bin/fatune.
[[nodiscard]] std::optional<std::filesystem::path> program_prefix();

/// Folders that Python packages are installed below: the virtual environment's, ~/.local,
/// /usr/local, /usr.
[[nodiscard]] std::vector<std::filesystem::path> python_prefixes();

/// The folders below `prefix` that Python packages lie in, whether they exist or not:
/// <prefix>/lib/python3.*/site-packages, and that of `pip install --target <prefix>`.
[[nodiscard]] std::vector<std::filesystem::path> python_packages(
    const std::filesystem::path& prefix);

/// NVIDIA's Python packages below `prefix`, a folder for each.
[[nodiscard]] std::vector<std::filesystem::path> nvidia_packages(
    const std::filesystem::path& prefix);

}  // namespace fatune
