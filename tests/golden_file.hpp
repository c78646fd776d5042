#pragma once

#include <filesystem>
#include <string>

namespace fatune::testing_golden {

/// The path tests/golden/<name>.
[[nodiscard]] std::filesystem::path golden_file(const std::string& name);
/// Whether golden files are written instead of compared: UPDATE_GOLDEN is set in the environment.
[[nodiscard]] bool updates_golden();

/// Compares the text with tests/golden/<name>, or writes it there.
void expect_golden(const std::string& text, const std::string& name);

}  // namespace fatune::testing_golden
