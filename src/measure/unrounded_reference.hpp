#pragma once

#include <cstdint>

#include "gpu/context.hpp"
#include "measure/measurement_module.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// Exact attention of the inputs before they were rounded to 8 bits, in device memory: of the
/// selected rows of one kind of input. All functions throw gpu::DriverError.
class UnroundedReference {
 public:
  /// Queues the computation. `args.reference` is that of the rounded inputs; its `rounded` is
  /// overwritten.
  UnroundedReference(UnroundedAttentionArgs args, std::int64_t elements, const Problem& problem,
                     const MeasurementModule& kernels, const gpu::Stream& stream);

  /// Queues the comparison with an output. `args`: the one with the references.
  void queue_compare(CompareArgs args, const MeasurementModule& kernels,
                     const gpu::Stream& stream) const;
  /// Sets the quantization error that the last comparison found. Precondition: the stream has
  /// finished.
  void set_error(ErrorStats& stats) const;

 private:
  gpu::DeviceBuffer exact_;
  gpu::DeviceBuffer device_counts_{sizeof(UnroundedCounts)};
  gpu::PinnedBuffer host_counts_{device_counts_.bytes()};
};

/// The device memory that it takes.
[[nodiscard]] std::int64_t unrounded_reference_bytes(const Problem& problem);

}  // namespace fatune
