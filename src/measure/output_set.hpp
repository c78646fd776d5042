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

/// The size of each guard band around an output other than O.
inline constexpr std::int64_t kOutputGuardBytes = 64 << 10;

/// The device memory of an output other than O, guard bands included.
[[nodiscard]] std::int64_t output_memory_bytes(const KernelBuffer& output);
[[nodiscard]] bool has_outputs(const std::vector<KernelBuffer>& buffers);
/// The buffers of a kernel that are outputs.
[[nodiscard]] std::vector<KernelBuffer> outputs_of(const std::vector<KernelBuffer>& buffers);

/// The outputs other than O that a kernel writes, in device memory with guard bands before and
/// after each. They are poisoned, fingerprinted and checked like O. Only the constructor waits. All
/// functions throw gpu::DriverError.
class OutputSet {
 public:
  /// Fills outputs and guard bands with poison.
  OutputSet(const std::vector<KernelBuffer>& outputs, const gpu::Stream& stream);

  [[nodiscard]] std::optional<gpu::DevicePtr> find(std::string_view name) const;
  /// Whether any output is compared with references.
  [[nodiscard]] bool has_row_values() const;

  void poison(const gpu::Stream& stream) const;
  void poison_with_guards(const gpu::Stream& stream) const;
  /// Queues the fingerprints of all outputs, which are added to `sum` in device memory.
  void queue_fingerprint(InputSum* sum, const MeasurementModule& kernels,
                         const gpu::Stream& stream) const;

  /// Queues the checks of the current outputs and guard bands. `references`: null unless
  /// has_row_values().
  void queue_check(const RowReferences* references, const MeasurementModule& kernels,
                   const gpu::Stream& stream) const;
  /// The errors that the last check found, one item for each output. Precondition: the stream has
  /// finished.
  [[nodiscard]] std::vector<ErrorStats> stats(const RowReferences* references) const;
  /// The reason if the last check did not run. Empty: it ran. A driver that runs nothing finds no
  /// fault either.
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
