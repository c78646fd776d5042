#pragma once

#include <vector>

#include "emit/document/document.hpp"
#include "report/search_trial.hpp"

namespace fatune {

/// The results of replayed searches. JSON: configs/schema/search.schema.json.
[[nodiscard]] Document search_document(const std::vector<SearchTrial>& trials);
[[nodiscard]] const Fields<SearchTrial>& search_fields();

}  // namespace fatune
