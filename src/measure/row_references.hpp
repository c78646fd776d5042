#pragma once

#include <cstdint>

#include "attention/problem.hpp"
#include "attention/row_values.hpp"
#include "core/outcome.hpp"
#include "gpu/context.hpp"
#include "gpu/memory.hpp"
#include "measure/measurement_module.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// The reference values of the selected rows of one kind of input, in device memory, with the limit
/// of the error. All functions throw gpu::DriverError.
class RowReferences {
 public:
  /// Computes the references from the inputs of `reference`, whose selection must outlive this.
  /// Waits.
  RowReferences(const Problem& problem, const ReferenceArgs& reference,
                const MeasurementModule& kernels, const gpu::Stream& stream);

  /// The arguments of the kernel that compares `values`, in device memory, with the references.
  [[nodiscard]] RowValueArgs compare_args(const float* values, RowValue what,
                                          RowValueCounts* counts) const;
  /// The errors found, without names.
  [[nodiscard]] ErrorStats stats(const RowValueCounts& counts) const;
  [[nodiscard]] bool has_seen_all(const RowValueCounts& counts) const;

 private:
  [[nodiscard]] double find_limit(const ReferenceArgs& reference, const MeasurementModule& kernels,
                                  const gpu::Stream& stream) const;

  Problem problem_;
  RowSelection selection_;
  std::int64_t selected_ = 0;  // rows
  gpu::DeviceBuffer rows_;
  double limit_ = 0.0;
};

/// The device memory of the references: 8 bytes for each selected row.
[[nodiscard]] std::int64_t row_reference_bytes(const Problem& problem);

}  // namespace fatune
