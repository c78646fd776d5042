#pragma once

#include "core/outcome.hpp"
#include "gpu/driver.hpp"

namespace fatune {

/// The outcome of a driver error while a candidate was loaded, launched or waited for: Unlaunchable
/// if it was refused before anything ran, else Crashed.
[[nodiscard]] Outcome outcome_of(const gpu::DriverError& error);

}  // namespace fatune
