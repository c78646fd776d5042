#pragma once

#include <filesystem>
#include <string>

namespace fatune::testing_golden {

/// tests/golden/<name>
[[nodiscard]] std::filesystem::path golden_file(const std::string& name);
/// Whether golden files are to be written instead of compared: UPDATE_GOLDEN in the environment.
[[nodiscard]] bool updates_golden();

/// Compares with tests/golden/<name>; or writes it.
void expect_golden(const std::string& text, const std::string& name);

}  // namespace fatune::testing_golden
