#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/input_kind.hpp"
#include "attention/problem.hpp"
#include "attention/row_sample.hpp"
#include "gpu/memory.hpp"
#include "measure/measurement_module.hpp"
#include "measure/tensors.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// The reference rows of one kind of input, and the rows' positions, in device memory. They are
/// computed once per problem and compared with every candidate's output.
class References {
 public:
  /// Chooses the rows (row_sample.hpp) and uploads their positions; waits for the stream.
  References(const Problem& problem, std::uint64_t seed, const gpu::Stream& stream);

  [[nodiscard]] RowSelection selection() const;
  [[nodiscard]] std::int64_t elements() const noexcept { return elements_; }
  [[nodiscard]] float* exact() const { return exact_.as<float>(); }
  [[nodiscard]] void* rounded() const { return rounded_.as<void>(); }

 private:
  std::int64_t rows_per_head_ = 0;
  std::int64_t elements_ = 0;
  gpu::DeviceBuffer rows_;
  gpu::DeviceBuffer exact_;
  gpu::DeviceBuffer rounded_;
};

/// The place where candidates run on one kind of input: tensors with these inputs, and the right
/// output. All functions throw gpu::DriverError.
///
/// The inputs are made once. After a run a checksum tells whether they have changed. That is one
/// pass over the memory; making them again for each candidate would take a random number per
/// element.
class Stage {
 public:
  /// Makes inputs and references from `seed`; waits for the device. `kernels` and `stream` must
  /// outlive the stage.
  Stage(const Problem& problem, InputKind kind, std::uint64_t seed,
        const MeasurementModule& kernels, const gpu::Stream& stream);

  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] InputKind kind() const noexcept { return kind_; }
  [[nodiscard]] const Tensors& tensors() const noexcept { return tensors_; }
  [[nodiscard]] const References& references() const noexcept { return references_; }

  /// The address of a tensor, or of an output of a kernel with these buffers. Empty: the name is
  /// unknown. The first request makes the memory for the outputs and their references; it then
  /// waits, and makes everything anew as restore() does.
  [[nodiscard]] std::optional<gpu::DevicePtr> find(const std::vector<KernelBuffer>& buffers,
                                                   std::string_view name) const;
  /// Fills O and the other outputs of a kernel with these buffers with poison. These outputs are
  /// fingerprinted and checked from now on. Does not wait. Precondition: find() was called with
  /// these buffers, if any of them is an output.
  void poison_output(const std::vector<KernelBuffer>& buffers) const;
  /// Makes poison, guard bands and inputs anew. Does not wait.
  void restore() const { fill(seed_); }
  /// Fills the inputs with other values, which depend on `attempt`, until restore(). The references
  /// do not apply to them. Does not wait.
  void fill_afresh(int attempt) const { fill(~seed_ - static_cast<std::uint64_t>(attempt)); }
  /// Queues the fingerprint of the current outputs, which is added to `sum` in device memory.
  void queue_fingerprint(InputSum* sum) const;

  /// Queues the checks of the current outputs, guard bands and inputs, which add to `counts` in
  /// device memory.
  void queue_check(CheckCounts* counts) const;
  /// The errors that the last check found in the outputs other than O. Precondition: the stream has
  /// finished.
  [[nodiscard]] std::vector<ErrorStats> output_stats() const;
  /// The reason if that check did not run. Empty: it ran.
  [[nodiscard]] std::optional<std::string> find_missing_output_check() const;
  /// Queues the counting of the elements of every compared row that mismatch or are beyond the
  /// limit. The counts go to `rows` in device memory.
  void queue_row_counts(RowCounts* rows, float limit) const;
  /// The positions of the compared rows in the sequence, those of a (batch, head) together.
  [[nodiscard]] RowSample compared_rows() const { return sample_rows(problem_, seed_); }
  /// Whether the inputs differ from those that restore() made.
  [[nodiscard]] bool inputs_changed(const CheckCounts& counts) const;

 private:
  void fill(std::uint64_t seed) const;
  [[nodiscard]] ReferenceArgs reference_args() const;
  void compute_references() const;
  [[nodiscard]] const OutputSet& outputs(const std::vector<KernelBuffer>& buffers) const;
  void prepare_row_references() const;
  [[nodiscard]] InputSum sum_inputs() const;
  [[nodiscard]] CompareArgs compare_args(CheckCounts* counts) const;

  Problem problem_;
  InputKind kind_;
  std::uint64_t seed_;
  const MeasurementModule& kernels_;
  const gpu::Stream& stream_;
  Tensors tensors_;
  References references_;
  InputSum input_sum_{};

  // The outputs other than O. Kernels with the same list of outputs share them, as all kernels
  // share O.
  struct Further {
    std::map<std::vector<KernelBuffer>, OutputSet> sets;
    std::optional<RowReferences> references;
    const OutputSet* current = nullptr;

    [[nodiscard]] const RowReferences* reference() const {
      return references ? &*references : nullptr;
    }
  };
  std::unique_ptr<Further> further_ = std::make_unique<Further>();
};

}  // namespace fatune
