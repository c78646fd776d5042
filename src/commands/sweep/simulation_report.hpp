#pragma once

#include <vector>

#include "model/emulation.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// The results of replayed searches. JSON: configs/schema/search.schema.json.
[[nodiscard]] Document search_document(const std::vector<SearchTrial>& trials);
[[nodiscard]] Fields<SearchTrial> search_fields();

}  // namespace fatune
