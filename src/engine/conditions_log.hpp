#pragma once

#include <optional>
#include <vector>

#include "core/journal_event.hpp"
#include "report/report.hpp"

namespace fatune {

/// Gathers what NVML said at each sample.
class ConditionsLog {
 public:
  void add(const GpuReading& reading) { readings_.push_back(reading); }
  /// Nothing without a reading.
  [[nodiscard]] std::optional<GpuConditions> summary() const;

 private:
  std::vector<GpuReading> readings_;
};

}  // namespace fatune
