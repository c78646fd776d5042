#pragma once

#include "core/outcome.hpp"
#include "gpu/context.hpp"
#include "measure/stage.hpp"

namespace fatune {

/// Counts, for every compared row of the output as it stands on `stage`, the elements that mismatch
/// and those beyond `stats.limit`; `stats` are those of the same output. Waits for the device.
/// Throws gpu::DriverError, and std::logic_error when the rows do not add up to `stats`.
[[nodiscard]] RowMismatches count_rows(const Stage& stage, const ErrorStats& stats,
                                       const gpu::Stream& stream);

}  // namespace fatune
