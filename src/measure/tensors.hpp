#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/context.hpp"
#include "measure/measurement_module.hpp"
#include "measure/memory_plan.hpp"
#include "model/cpu_reference.hpp"
#include "model/input_kind.hpp"
#include "model/kernel_code.hpp"
#include "model/kv_lengths.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// The reference values of the selected rows of one kind of input, in device memory, with the limit
/// of the error. All functions throw gpu::DriverError.
class RowReferences {
 public:
  /// Computes the references from the inputs of `reference`, whose selection must outlive this.
  /// Waits.
  /// greatest_scale: of K; 1 if it has none
  RowReferences(const Problem& problem, const ReferenceArgs& reference, double greatest_scale,
                const MeasurementModule& kernels, const gpu::Stream& stream);

  /// The arguments of the kernel that compares `values`, in device memory, with the references.
  [[nodiscard]] RowValueArgs compare_args(const float* values, RowValue what,
                                          RowValueCounts* counts) const;
  /// The errors found, without names.
  [[nodiscard]] ErrorStats stats(const RowValueCounts& counts) const;
  [[nodiscard]] bool has_seen_all(const RowValueCounts& counts) const {
    return counts.compared == static_cast<unsigned long long>(selected_) &&
           counts.scanned == static_cast<unsigned long long>(output_rows(problem_));
  }

 private:
  Problem problem_;
  RowSelection selection_;
  std::int64_t selected_ = 0;  // rows
  gpu::DeviceBuffer rows_;
  double limit_ = 0.0;
};

/// The device memory of the references: 8 bytes for each selected row.
[[nodiscard]] std::int64_t row_reference_bytes(const Problem& problem);

/// How the measurement kernels find the elements of a tensor that begins at `data`. Of K and V in
/// pages, the extents are those of all sequences, and batch_stride is that of pages.
[[nodiscard]] TensorView tensor_view(const Problem& problem, TensorRole role, void* data);

/// An input of one 32-bit word for each sequence or head. It lies outside the guard bands.
struct SmallInput {
  std::string_view name;             ///< what kernels' arguments call it
  std::vector<std::uint32_t> words;  ///< and padding, so that their number is a multiple of 4
  gpu::DeviceBuffer memory;

  [[nodiscard]] std::int64_t bytes() const {
    return std::ssize(words) * static_cast<std::int64_t>(sizeof(std::uint32_t));
  }
};

/// Q, K, V and O of a problem in one allocation, with guard bands before, between and after them:
///
///   guard Q guard K guard V guard O guard
///
/// The poison is a NaN in all element types, and not the one that arithmetic produces. In O it
/// shows what was not written. In the guard bands, changed poison shows writes outside a tensor.
/// Poison that spreads into O shows reads outside a tensor.
class Tensors {
 public:
  static constexpr std::uint32_t kPoison = 0x7fa57fa5;
  /// Where K and V have 8 bits: of these, only bytes 0x7f and 0xff are NaN in both formats.
  static constexpr std::uint32_t kEightBitPoison = 0xffffffff;
  static constexpr std::int64_t kGuardBands = 5;

  /// Sinks are those of the kind of input.
  explicit Tensors(const Problem& problem, InputKind kind = InputKind::normal);

  [[nodiscard]] gpu::DevicePtr at(TensorRole role) const noexcept {
    return arena_.address() +
           static_cast<gpu::DevicePtr>(plan_.tensor_offset(stored_in(problem_, role)));
  }
  [[nodiscard]] gpu::DevicePtr q() const noexcept { return at(TensorRole::q); }
  [[nodiscard]] gpu::DevicePtr k() const noexcept { return at(TensorRole::k); }
  [[nodiscard]] gpu::DevicePtr v() const noexcept { return at(TensorRole::v); }
  [[nodiscard]] gpu::DevicePtr o() const noexcept { return at(TensorRole::o); }

  /// The address of "q", "k", "v", "o" or a small input of the problem. Empty: another name.
  [[nodiscard]] std::optional<gpu::DevicePtr> find(std::string_view name) const;

  /// The first rows of packed sequences, for the measurement kernels; null: they are not packed.
  [[nodiscard]] PackedRows packed_rows() const {
    return {small_input<int>(kQueryStartsTensor), small_input<int>(kKeyStartsTensor),
            is_packed(problem_) ? static_cast<int>(problem_.batch) : 0};
  }
  /// Lengths of keys in device memory; null: all sequences have as many, or they are packed.
  [[nodiscard]] const int* key_lengths() const { return small_input<int>(kKeyLengthsTensor); }
  /// The heads' sinks in device memory; null: they have none.
  [[nodiscard]] const float* sinks() const { return small_input<float>(kSinksTensor); }
  /// Views of the tensors' scales; without data for those that have none.
  [[nodiscard]] InputScales scales() const;
  /// 1 if K has none. Waits, since scales may follow from the inputs.
  [[nodiscard]] double greatest_key_scale(const gpu::Stream& stream) const;
  [[nodiscard]] const std::vector<SmallInput>& small_inputs() const { return small_inputs_; }

  /// The table of pages in device memory; its table is null if K and V are contiguous.
  [[nodiscard]] KeyPages pages() const;

  /// Fills everything, inputs and guards included, with the poison, and writes the small inputs.
  /// Fitted scales (input_kind.hpp) are the least ones until the inputs are filled.
  void poison(const gpu::Stream& stream) const;
  /// Fills only O with the poison.
  void poison_output(const gpu::Stream& stream) const {
    gpu::fill_words_async(o(), poison_word(), tensor_bytes(problem_, TensorRole::o) / 4, stream);
  }

  /// The view of a tensor for the measurement kernels.
  [[nodiscard]] TensorView view(TensorRole role) const;
  [[nodiscard]] GuardArgs guard_args() const;
  /// The arguments of the kernel that sums up Q, K and V into `sum`.
  [[nodiscard]] InputSumArgs input_sum_args(InputSum* sum) const;

 private:
  [[nodiscard]] std::uint32_t poison_word() const {
    return has_scales(problem_) ? kEightBitPoison : kPoison;
  }
  template <typename Word>
  void add_small_input(std::string_view name, const std::vector<Word>& values);
  [[nodiscard]] const SmallInput* find_small_input(std::string_view name) const;
  template <typename Word>
  [[nodiscard]] const Word* small_input(std::string_view name) const {
    const SmallInput* const input = find_small_input(name);
    return input == nullptr ? nullptr : input->memory.as<const Word>();
  }

  Problem problem_;
  StagePlan plan_;
  gpu::DeviceBuffer arena_;
  std::vector<SmallInput> small_inputs_;
};

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
  [[nodiscard]] bool has_row_values() const {
    return std::ranges::any_of(outputs_, [](const Output& output) {
      return find_enum<RowValue>(output.of.output).has_value();
    });
  }

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
  [[nodiscard]] const Counts& counts_of(std::size_t output) const {
    return host_counts_.host_as<const Counts>()[output];
  }
  [[nodiscard]] ErrorStats stats_of(std::size_t output, const RowReferences* references) const;

  std::vector<Output> outputs_;
  gpu::DeviceBuffer device_counts_;
  gpu::PinnedBuffer host_counts_;
};

}  // namespace fatune
