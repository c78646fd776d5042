#pragma once

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct DevicesOptions {
  OutputOptions output;
};

/// Prints the GPUs of this machine.
[[nodiscard]] ExitCode devices(const DevicesOptions& options);

}  // namespace fatune
