#pragma once

#include "emit/document/document.hpp"
#include "report/run_summary.hpp"

namespace fatune {

/// The columns of the cases, without the parameters to show.
[[nodiscard]] Fields<CaseResult> case_fields();

[[nodiscard]] Document cases_document(const CasesReport& report);

}  // namespace fatune
