#pragma once

#include <string>
#include <vector>

// Names of what fatune ships, for completions.
namespace fatune {

/// The keys of spaces, sorted.
[[nodiscard]] std::vector<std::string> known_spaces();
/// Kernel families, sorted.
[[nodiscard]] std::vector<std::string> known_families();
/// Keys of configs/cases, sorted.
[[nodiscard]] std::vector<std::string> known_case_sets();
/// Architectures that have a file in configs/devices, sorted.
[[nodiscard]] std::vector<std::string> known_archs();
/// GPUs that fatune ships winners of, as file_name_part() writes them, sorted.
[[nodiscard]] std::vector<std::string> known_tuned_gpus();
/// Published models, in the order of their file.
[[nodiscard]] std::vector<std::string> known_presets();

}  // namespace fatune
