#pragma once

#include "app/commands/sweep_command.hpp"

namespace fatune {

/// `sweep --simulate`: replays searches on recorded results, without a GPU and without compiling,
/// and prints how many configurations each tries until it has found a fast one (docs/search.md).
/// Error(usage) when there is no such run; Error(bad_file) for results of configurations that the
/// families do not have, or without a time. Precondition: options.simulate.
[[nodiscard]] ExitCode simulate_searches(const SweepOptions& options);

}  // namespace fatune
