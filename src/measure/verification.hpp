#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/outcome.hpp"
#include "core/problem.hpp"
#include "gpu/memory.hpp"
#include "measure/input_kind.hpp"
#include "measure/loaded_kernel.hpp"
#include "measure/measurement_module.hpp"
#include "measure/references.hpp"
#include "measure/tensors.hpp"

namespace fatune {

struct Verdict {
  Verification verification;
  std::optional<std::string> finding;  ///< what is wrong, in one sentence; nothing: it is right
};

/// Decides whether kernels compute attention, for one problem. On each input kind the whole output
/// is scanned for poison, NaN and infinity, the guard bands for writes, and the selected rows are
/// compared with an fp32 and a 16-bit reference (error_rule.hpp). All throw gpu::DriverError.
///
/// References are computed once, in the constructor. Inputs are made again for every check, because
/// a wrong kernel may have written over them; that costs less than keeping three sets.
class Verifier {
 public:
  /// The references are those of `seed`. All but `problem` must outlive the verifier.
  Verifier(const Problem& problem, std::uint64_t seed, const MeasurementModule& kernels,
           const Tensors& tensors, const gpu::Stream& stream);

  /// Runs the kernel once on every input kind. Waits for the device once.
  [[nodiscard]] Verdict verify(const LoadedKernel& kernel) const;

  /// Restores poison, guard bands and the inputs of `kind`. Does not wait.
  void fill(InputKind kind) const;
  /// Checks the output as it stands; the inputs must be those of `kind`. Waits for the device.
  [[nodiscard]] Verdict check_output(InputKind kind) const;

  [[nodiscard]] const References& references() const noexcept { return references_; }

 private:
  void queue_check(InputKind kind) const;
  void clear_counts() const;
  void compute_references(InputKind kind) const;
  [[nodiscard]] const CheckCounts* fetch_counts() const;
  [[nodiscard]] Verdict judge(std::span<const InputKind> kinds) const;
  [[nodiscard]] ErrorStats stats_of(InputKind kind, const CheckCounts& counts) const;

  Problem problem_;
  std::uint64_t seed_;
  const MeasurementModule& kernels_;
  const Tensors& tensors_;
  const gpu::Stream& stream_;
  References references_;
  gpu::DeviceBuffer device_counts_;  // CheckCounts of every input kind
  gpu::PinnedBuffer host_counts_;
};

}  // namespace fatune
