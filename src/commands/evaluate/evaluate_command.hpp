#pragma once

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

/// Times configurations of one family on one problem that another program proposes on standard
/// input, and answers on standard output (docs/evaluate.md). Throws Error(usage) for several
/// problems. Otherwise as carry_out().
[[nodiscard]] ExitCode evaluate(const MeasureOptions& options);

}  // namespace fatune
