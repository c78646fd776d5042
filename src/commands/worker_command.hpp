#pragma once

#include "core/exit_code.hpp"

namespace fatune {

/// Serves the fatune that has started this process (docs/worker-protocol.md). Not for users.
[[nodiscard]] ExitCode work_for_parent();

/// Compiles for the fatune that has started this process. Not for users.
[[nodiscard]] ExitCode compile_for_parent();

}  // namespace fatune
