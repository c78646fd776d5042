#pragma once

#include <optional>
#include <vector>

#include "core/journal_event.hpp"
#include "report/report.hpp"

namespace fatune {

/// Collects the NVML readings that are taken with the samples.
class ConditionsLog {
 public:
  void add(const GpuReading& reading) { readings_.push_back(reading); }
  /// Summarises the readings. Empty: there are none.
  [[nodiscard]] std::optional<GpuConditions> summary() const;

 private:
  std::vector<GpuReading> readings_;
};

}  // namespace fatune
