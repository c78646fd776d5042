#pragma once

#include <vector>

#include "data/json_file.hpp"
#include "plan/expression.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads a family's "shared_tensors"; what an item leaves out is as the schema says.
[[nodiscard]] std::vector<SharedTensorRule> read_shared_tensors(const JsonNode& list,
                                                                const SymbolTable& symbols);

}  // namespace fatune
