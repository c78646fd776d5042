#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file_tree.hpp"
#include "model/device_limits.hpp"
#include "plan/family.hpp"
#include "unit/base/throws_error.hpp"

namespace fatune::fixtures {

/// The built-in family flash_sm80, loaded once.
[[nodiscard]] const Family& flash();
/// The limits of an H200, which need not be present.
[[nodiscard]] const DeviceLimits& h200();
/// The configuration of flash() with this short form.
[[nodiscard]] Config flash_config(const std::string& text);

/// The toy family's folder.
[[nodiscard]] std::string toy_folder();
/// A tree with the toy family.
[[nodiscard]] FileTree toy_tree();
/// The toy family's family.json, to be changed and loaded by load_changed.
[[nodiscard]] nlohmann::json toy_json();
/// Loads the toy family with another family.json, as --kernel-dir would.
[[nodiscard]] Family load_changed(const nlohmann::json& family_json);

/// Lines of tests/golden/<name>.
[[nodiscard]] std::vector<std::string> golden_lines(const std::string& name);

}  // namespace fatune::fixtures
