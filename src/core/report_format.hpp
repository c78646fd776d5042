#pragma once

namespace fatune {

/// The formats that `report` writes.
enum class ReportFormat {
  html,  ///< one page with everything
  svg,   ///< single figures
};

}  // namespace fatune
