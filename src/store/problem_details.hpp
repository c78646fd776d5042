#pragma once

#include <string>

#include "report/report.hpp"

namespace fatune {

/// The column of run_problems that holds what a report says of a problem besides its entries:
/// device_uuid, measuring, conditions, audit.
[[nodiscard]] std::string details_column(const ProblemReport& report);
/// Error(bad_file) when it cannot be read.
void read_details(const std::string& text, ProblemReport& report);

}  // namespace fatune
