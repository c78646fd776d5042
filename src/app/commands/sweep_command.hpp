#pragma once

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct SweepOptions : MeasureOptions {
  AuditOptions audit;
};

/// Options become a plan, a plan becomes artifacts, artifacts become outcomes, outcomes become a
/// ranking, a ranking becomes bytes.
[[nodiscard]] ExitCode sweep(const SweepOptions& options);

}  // namespace fatune
