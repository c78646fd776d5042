#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/emulation.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"

namespace fatune {

/// The columns of the cases, without the parameters to show.
[[nodiscard]] Fields<CaseResult> case_fields();

[[nodiscard]] Document cases_document(const CasesReport& report);

}  // namespace fatune
