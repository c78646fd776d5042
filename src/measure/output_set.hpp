#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_arguments.hpp"
#include "core/outcome.hpp"
#include "gpu/context.hpp"
#include "gpu/memory.hpp"
#include "measure/measurement_module.hpp"
#include "measure/row_references.hpp"

namespace fatune {

/// Around each output beside O.
inline constexpr std::int64_t kOutputGuardBytes = 64 << 10;

/// Device memory of an output beside O, guard bands included.
[[nodiscard]] std::int64_t output_memory_bytes(const KernelBuffer& output);
[[nodiscard]] bool has_outputs(const std::vector<KernelBuffer>& buffers);
/// Those of a kernel's buffers that are outputs.
[[nodiscard]] std::vector<KernelBuffer> outputs_of(const std::vector<KernelBuffer>& buffers);

/// The outputs that a kernel writes beside O, in device memory with guard bands before and after
/// each: poisoned, fingerprinted and checked as O is. Nothing waits but the constructor; all throw
/// gpu::DriverError.
class OutputSet {
 public:
  /// Fills all with poison.
  OutputSet(const std::vector<KernelBuffer>& outputs, const gpu::Stream& stream);

  [[nodiscard]] std::optional<gpu::DevicePtr> find(std::string_view name) const;
  /// Any of them is compared with references.
  [[nodiscard]] bool has_row_values() const;

  void poison(const gpu::Stream& stream) const;
  void poison_with_guards(const gpu::Stream& stream) const;
  /// Adds the fingerprints of all to `sum`, in device memory.
  void queue_fingerprint(InputSum* sum, const MeasurementModule& kernels,
                         const gpu::Stream& stream) const;

  /// Queues the checks of outputs and guard bands as they stand. `references`: null unless
  /// has_row_values().
  void queue_check(const RowReferences* references, const MeasurementModule& kernels,
                   const gpu::Stream& stream) const;
  /// The errors that the last check found, once the stream has finished: one item for each output.
  [[nodiscard]] std::vector<ErrorStats> stats(const RowReferences* references) const;
  /// Why that is no finding: a driver that runs nothing finds no fault either. Nothing: it is one.
  [[nodiscard]] std::optional<std::string> find_missing_check(
      const RowReferences* references) const;

 private:
  struct Output {
    KernelBuffer of;
    gpu::DeviceBuffer memory;
  };
  // The counts that a check makes of an output.
  struct Counts {
    CheckCounts around;
    CheckCounts inside;
    RowValueCounts values;
  };

  [[nodiscard]] static GuardArgs bands_around(const Output& output);
  [[nodiscard]] static GuardArgs band_inside(const Output& output);
  [[nodiscard]] const Counts& counts_of(std::size_t output) const;
  [[nodiscard]] ErrorStats stats_of(std::size_t output, const RowReferences* references) const;

  std::vector<Output> outputs_;
  gpu::DeviceBuffer device_counts_;
  gpu::PinnedBuffer host_counts_;
};

}  // namespace fatune
