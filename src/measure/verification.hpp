#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/context.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/tensors.hpp"
#include "measure/unrounded_reference.hpp"
#include "model/input_kind.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/row_sample.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// The reference rows of one kind of input, and the rows' positions, in device memory. They are
/// computed once per problem and compared with every candidate's output.
class References {
 public:
  /// Chooses the rows (row_sample.hpp) and uploads their positions; waits for the stream.
  References(const Problem& problem, std::uint64_t seed, const gpu::Stream& stream);

  [[nodiscard]] RowSelection selection() const {
    return {rows_.as<const int>(), static_cast<int>(rows_per_head_)};
  }
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
                                                   std::string_view name) const {
    const auto of_kernel = has_outputs(buffers) ? outputs(buffers).find(name) : std::nullopt;
    return of_kernel ? of_kernel : tensors_.find(name);
  }
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
  /// Sets the quantization error of O that the last check found, on kinds of input that have one.
  /// Precondition: the stream has finished.
  void set_quantization_error(ErrorStats& stats) const;
  /// The errors that the last check found in the outputs other than O. Precondition: the stream has
  /// finished.
  [[nodiscard]] std::vector<ErrorStats> output_stats() const;
  /// The reason if that check did not run. Empty: it ran.
  [[nodiscard]] std::optional<std::string> find_missing_output_check() const;
  /// Queues the counting of the elements of every compared row that mismatch or are beyond the
  /// limit. The counts go to `rows` in device memory.
  void queue_row_counts(RowCounts* rows, float limit) const {
    kernels_.count_rows({compare_args(nullptr), rows, limit}, stream_);
  }
  /// The positions of the compared rows in the sequence, those of a (batch, head) together.
  [[nodiscard]] RowSample compared_rows() const { return sample_rows(problem_, seed_); }
  /// Whether the inputs differ from those that restore() made.
  [[nodiscard]] bool inputs_changed(const CheckCounts& counts) const {
    return counts.inputs.plain != input_sum_.plain || counts.inputs.mixed != input_sum_.mixed;
  }

 private:
  void fill(std::uint64_t seed) const;
  [[nodiscard]] FillInputsArgs fill_args(std::uint64_t seed) const;
  [[nodiscard]] ReferenceArgs reference_args() const;
  void compute_references();
  [[nodiscard]] const OutputSet& outputs(const std::vector<KernelBuffer>& buffers) const;
  /// Queues the checksum of Q, K, V and the small inputs, which is added to `sum` in device memory.
  void queue_input_sum(InputSum* sum) const;
  [[nodiscard]] InputSum sum_inputs() const;
  [[nodiscard]] CompareArgs compare_args(CheckCounts* counts) const;

  Problem problem_;
  InputKind kind_;
  std::uint64_t seed_;
  const MeasurementModule& kernels_;
  const gpu::Stream& stream_;
  Tensors tensors_;
  References references_;
  std::optional<UnroundedReference> unrounded_;
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

struct OutputVerdict {
  Verification verification;
  std::optional<std::string> finding;  ///< what is wrong, in one sentence; empty: it is right
  /// Whether guard bands or inputs had changed. They have been made anew, output included. Earlier
  /// runs that were not checked may have changed them.
  bool damaged = false;
};

/// Decides whether kernels compute attention, for one problem: on normal inputs for the problem
/// itself, on the other kinds for its probe problem. For each kind the whole output is scanned for
/// poison, NaN and infinity, guard bands and inputs are checked for writes, and the selected rows
/// are compared with an fp32 and a 16-bit reference (error_rule.hpp). All functions throw
/// gpu::DriverError.
///
/// There are kInputSets sets of normal inputs on the problem, each from a separate seed, and as
/// many on its part, if it has one.
///
/// For each stage call its poison_output(), run the kernel, then call check(). At most
/// kMostProbeKinds stages are checked together.
class Verifier {
 public:
  /// The problem that inputs other than normal ones are on: the probe problem, or the cheaper
  /// small_problem().
  enum class Where { probe, small };

  /// Inputs and references are made from `seed`. `kernels` and `stream` must outlive the verifier.
  /// `count_rows`: each check also says which rows are wrong (Verification::rows).
  Verifier(const Problem& problem, const std::optional<Problem>& part, std::uint64_t seed,
           const MeasurementModule& kernels, const gpu::Stream& stream, bool count_rows);

  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  /// The stages of normal inputs: the sets on the problem itself, then those on its part.
  /// Precondition: set < set_count().
  [[nodiscard]] const Stage& normal(int set) const {
    return normal_.at(static_cast<std::size_t>(set));
  }
  [[nodiscard]] int set_count() const { return static_cast<int>(normal_.size()); }
  /// The stage of one of probe_kinds(), on the probe problem or on small_problem().
  [[nodiscard]] const Stage& probe(InputKind kind, Where where);

  /// Checks the current outputs. Waits for the device once. Damaged inputs and guard bands are made
  /// anew.
  [[nodiscard]] OutputVerdict check(const Stage& stage) const {
    const std::array one{&stage};
    return check(std::span<const Stage* const>(one));
  }
  [[nodiscard]] OutputVerdict check(std::span<const Stage* const> stages) const;

  /// Verification::method for a verification on this stage of normal inputs, with the other kinds
  /// of input on `others`.
  [[nodiscard]] std::string method(const Stage& normal, Where others) const;

 private:
  [[nodiscard]] Problem problem_of(Where where) const {
    return where == Where::small ? small_problem(problem_) : probe_problem(problem_);
  }
  void judge(const Stage& stage, const CheckCounts& counts, OutputVerdict& verdict) const;

  Problem problem_;
  std::uint64_t seed_;
  bool count_rows_;
  const MeasurementModule& kernels_;
  const gpu::Stream& stream_;
  std::vector<Stage> normal_;
  std::map<std::pair<InputKind, Where>, Stage> probes_;  // made on first use
  // CheckCounts of each stage of a check.
  gpu::DeviceBuffer device_counts_{sizeof(CheckCounts) * kMostProbeKinds};
  gpu::PinnedBuffer host_counts_{device_counts_.bytes()};
};

/// Launches a candidate many times in a row, so that a kernel that stops computing after some
/// launches is found even if a race drops it after its first sample. Launches alternate between two
/// stages. Each launch finds a poisoned output and must leave the same output as the last launch on
/// its stage, which is verified. All functions throw gpu::DriverError.
class RepeatedLaunches {
 public:
  static constexpr int kLaunches = 16;

  struct Result {
    OutputVerdict verdict;      ///< the verdict on both stages
    bool deterministic = true;  ///< false: right outputs of the same inputs differed
  };
  using Stages = std::array<const Stage*, 2>;
  using MakeLaunch = std::function<KernelLaunch(const Stage&)>;

  /// `verifier` and `stream` must outlive this.
  RepeatedLaunches(const Verifier& verifier, const gpu::Stream& stream)
      : verifier_(verifier), stream_(stream) {}

  /// Runs the launches and waits for the device. The stages must have inputs of different values.
  [[nodiscard]] Result run(const Stages& stages, const MakeLaunch& make_launch) const;

 private:
  void queue(const Stages& stages, const std::array<KernelLaunch, 2>& launches) const;
  [[nodiscard]] bool left_the_same() const;
  [[nodiscard]] OutputVerdict check_each(const Stages& stages, const MakeLaunch& make_launch) const;

  const Verifier& verifier_;
  const gpu::Stream& stream_;
  gpu::DeviceBuffer device_sums_{kLaunches * sizeof(InputSum)};  // of each launch's output
  gpu::PinnedBuffer host_sums_{device_sums_.bytes()};
};

}  // namespace fatune
