#pragma once

#include "app/option_groups.hpp"
#include "library/library.hpp"

namespace fatune {

/// Builds a library of the table's configurations, with the machine code of kernel_cases(),
/// compiled in parallel. Throws Error(bad_file) for a family that libraries cannot have,
/// Error(failed_outcomes) if a kernel cannot be compiled, and Error(interrupted) after an
/// interrupt. The families and the table must outlive the library.
[[nodiscard]] Library build_library(const TunedTable& table, const FamilySet& families,
                                    const CompileSettings& settings, const OutputOptions& output);

}  // namespace fatune
