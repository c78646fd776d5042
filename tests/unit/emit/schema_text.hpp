#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace fatune {

/// A schema as its file has it: indented, with each list or object on one line where that has room.
[[nodiscard]] std::string schema_text(const nlohmann::ordered_json& schema);

}  // namespace fatune
