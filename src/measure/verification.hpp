#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "attention/input_kind.hpp"
#include "attention/problem.hpp"
#include "core/outcome.hpp"
#include "gpu/memory.hpp"
#include "measure/measurement_module.hpp"
#include "measure/stage.hpp"

namespace fatune {

struct Verdict {
  Verification verification;
  std::optional<std::string> finding;  ///< what is wrong, in one sentence; nothing: it is right
  /// Guard bands or inputs were not what they should be, and have been made anew, output included.
  /// Earlier runs that were not checked may have done it.
  bool damaged = false;
};

/// Decides whether kernels compute attention, for one problem: on normal inputs for the problem
/// itself, on the others for its probe problem. On each kind the whole output is scanned for
/// poison, NaN and infinity, guard bands and inputs for writes, and the selected rows are compared
/// with an fp32 and a 16-bit reference (error_rule.hpp). All throw gpu::DriverError.
///
/// For each kind: prepare(), the caller's run of the kernel, check().
class Verifier {
 public:
  /// Inputs and references are those of `seed`. `kernels` and `stream` must outlive the verifier.
  /// `count_rows`: each check also says which rows are wrong (Verification::rows).
  Verifier(const Problem& problem, std::uint64_t seed, const MeasurementModule& kernels,
           const gpu::Stream& stream, bool count_rows);

  /// What the kernel is to be run on.
  [[nodiscard]] const Tensors& tensors(InputKind kind) const;

  /// Fills the output with poison. Does not wait.
  void prepare(InputKind kind) const { stage(kind).poison_output(); }
  /// Checks the outputs as they stand. Waits for the device once.
  [[nodiscard]] Verdict check(std::span<const InputKind> kinds) const;

 private:
  [[nodiscard]] const Stage& stage(InputKind kind) const;
  [[nodiscard]] const CheckCounts* fetch_counts() const;
  [[nodiscard]] std::string method() const;
  void judge(InputKind kind, const CheckCounts& counts, Verdict& verdict) const;

  std::uint64_t seed_;
  bool count_rows_;
  const gpu::Stream& stream_;
  std::array<Stage, kInputKinds.size()> stages_;
  gpu::DeviceBuffer device_counts_;  // CheckCounts of every input kind
  gpu::PinnedBuffer host_counts_;
};

}  // namespace fatune
