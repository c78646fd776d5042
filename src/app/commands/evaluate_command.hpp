#pragma once

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

/// Times configurations that another program proposes on standard input, of one family on one
/// problem, and answers on standard output (docs/evaluate.md). Error(usage) for several problems;
/// else as carry_out().
[[nodiscard]] ExitCode evaluate(const MeasureOptions& options);

}  // namespace fatune
