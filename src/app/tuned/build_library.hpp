#pragma once

#include "app/option_groups.hpp"
#include "library/library.hpp"

namespace fatune {

/// The table's configurations with the machine code of kernel_cases(), compiled in parallel.
/// Error(bad_file) for a family that libraries cannot have, Error(failed_outcomes) when a kernel
/// cannot be compiled, Error(interrupted) after an interrupt.
/// The families and the table must outlive it.
[[nodiscard]] Library build_library(const TunedTable& table, const FamilySet& families,
                                    const CompileSettings& settings, const OutputOptions& output);

}  // namespace fatune
