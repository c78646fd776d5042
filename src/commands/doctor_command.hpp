#pragma once

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct DoctorOptions {
  CompileSettings compile;
  OutputOptions output;
};

/// Checks whether what fatune needs of this machine is there and works.
[[nodiscard]] ExitCode doctor(const DoctorOptions& options);

}  // namespace fatune
