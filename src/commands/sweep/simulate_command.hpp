#pragma once

#include "commands/sweep/sweep_command.hpp"

namespace fatune {

/// `sweep --simulate`: replays searches on recorded results, without a GPU and without compiling,
/// and prints how many configurations each tries until it has found a fast one (docs/search.md).
/// Throws Error(usage) if there is no such run, and Error(bad_file) for results without a time and
/// of configurations that the families do not have. Precondition: options.simulation.input.
[[nodiscard]] ExitCode simulate_searches(const SweepOptions& options);

}  // namespace fatune
