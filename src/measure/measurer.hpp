#pragma once

#include <memory>
#include <string>

#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "core/problem.hpp"

namespace fatune {

/// One compiled configuration, ready to be launched on the current problem. A plain value, so that
/// it can be sent to another process. Its kernel takes one AttentionForwardArgs
/// (kernels/common/attention_args.h).
struct Candidate {
  std::string label;  ///< the configuration's short form: for messages
  std::shared_ptr<const Artifact> artifact;
  LaunchGeometry geometry;
};

/// Verifies and times candidates on one GPU. Whatever a candidate does is an Outcome; an Error
/// means that measuring as a whole cannot go on.
class Measurer {
 public:
  Measurer() = default;
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;
  Measurer(Measurer&&) = delete;
  Measurer& operator=(Measurer&&) = delete;
  virtual ~Measurer() = default;

  /// Prepares inputs and references. `kernels` is compiled from measurement_request() for this
  /// problem. Throws Error(too_large) before anything is allocated when the problem does not fit,
  /// and Error(gpu_failure) when the driver fails.
  virtual void begin_problem(const Problem& problem, const Artifact& kernels) = 0;

  /// Measured, WrongResult, Unlaunchable or Crashed. A wrong candidate is never timed.
  /// Precondition: begin_problem() has returned, and not context_lost().
  [[nodiscard]] virtual Outcome measure(const Candidate& candidate) = 0;

  /// True once a candidate has killed the GPU context (illegal address, launch failure ...): its
  /// outcome says so, and nothing can be measured here any more.
  [[nodiscard]] virtual bool context_lost() const noexcept = 0;
};

}  // namespace fatune
