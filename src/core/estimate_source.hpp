#pragma once

#include <string_view>

namespace fatune {

/// What an estimate of a time was made from (docs/estimate.md).
enum class EstimateSource {
  problem,      ///< the problem alone: the family declares no quantities
  family,       ///< the family's quantities
  emulation,    ///< the instructions that emulation counted
  calibration,  ///< the family's model, which was fitted to measured times
};

/// "problem", "family", "emulation", "calibration": the names in outputs.
[[nodiscard]] std::string_view estimate_source_name(EstimateSource source);
/// Throws Error(bad_file) if there is no source of that name.
[[nodiscard]] EstimateSource parse_estimate_source(std::string_view name);

}  // namespace fatune
