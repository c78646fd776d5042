#pragma once

namespace fatune {

/// What `report` writes.
enum class ReportFormat {
  html,  ///< one page with everything
  svg,   ///< single figures
};

}  // namespace fatune
