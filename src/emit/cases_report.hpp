#pragma once

#include <string>
#include <vector>

#include "emit/document/document.hpp"
#include "report/cases.hpp"

namespace fatune {

/// Every column of the cases, but for the parameters that are shown.
[[nodiscard]] const std::vector<Field<CaseResult>>& case_fields();

[[nodiscard]] Document cases_document(const CasesReport& report);

}  // namespace fatune
