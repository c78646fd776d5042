#pragma once

#include <string>
#include <vector>

#include "emit/field.hpp"
#include "emit/page.hpp"
#include "report/cases.hpp"

namespace fatune {

/// Every column of the cases, but for the parameters that are shown.
[[nodiscard]] const std::vector<Field<CaseResult>>& case_fields();

[[nodiscard]] std::string print_cases(const CasesReport& report, const Page& page);

}  // namespace fatune
