#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace fatune {

/// The text of a schema's file: indented, with each list or object on one line if it fits.
[[nodiscard]] std::string schema_text(const nlohmann::ordered_json& schema);

}  // namespace fatune
