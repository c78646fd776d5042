#pragma once

#include <vector>

#include "data/json_file.hpp"
#include "plan/expression.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a family's "shared_tensors". Members that an item leaves out have the schema's defaults.
[[nodiscard]] std::vector<SharedTensorRule> read_shared_tensors(const JsonNode& list,
                                                                const SymbolTable& symbols);

}  // namespace fatune
