#pragma once

#include <string_view>
#include <vector>

#include "emit/document/json_text.hpp"
#include "emit/document/table.hpp"
#include "report/gate.hpp"

namespace fatune {

[[nodiscard]] std::string_view verdict_name(GateVerdict verdict);  ///< "equal", "slower", ...

/// The columns of the comparison of winners with their rivals, which has a row for each problem.
[[nodiscard]] const std::vector<Field<GateCheck>>& gate_fields();

/// The member `gate` of results.json.
[[nodiscard]] Json json_gate(const GateReport& gate);
/// A table for people, with a row for each problem.
[[nodiscard]] Table gate_table(const GateReport& gate);
/// "2 slower, 1 equal": the number of problems with each verdict.
[[nodiscard]] std::string gate_sentence(const GateReport& gate);

}  // namespace fatune
