#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "compile/compiler.hpp"
#include "compile/cubin_cache.hpp"
#include "core/arch.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

/// The setup for measuring rates of dense products. Without sources none are measured.
struct MatmulSetup {
  std::shared_ptr<const SourceBundle> sources;
  Arch arch;
  CubinCache* cache = nullptr;  ///< may be null; must outlive the rates
};

/// The rates at which a GPU multiplies dense matrices, by element type. They are measured when a
/// problem begins, and again for a later one, because a GPU becomes slower as it gets warm. A
/// failure loses the rates and has no other effect.
class MatmulRates {
 public:
  using Measure = std::function<MatmulRate(const Artifact&)>;
  using Clock = std::chrono::steady_clock;

  /// Starts to compile the kernels for the element types of these problems. `measure` may throw an
  /// Error. A rate is reused for problems that begin within `lasts` of its measurement.
  MatmulRates(const MatmulSetup& setup, const std::vector<Problem>& problems, Measure measure,
              Clock::duration lasts = std::chrono::seconds(10));

  /// The rate for an element type. Empty: none is measured, or a warning has given the reason.
  [[nodiscard]] std::optional<MatmulRate> of(DType dtype);

 private:
  struct Known {
    MatmulRate rate;
    Clock::time_point at;
  };

  [[nodiscard]] MatmulRate measured(DType dtype) const;

  Measure measure_;
  Clock::duration lasts_;
  std::map<DType, std::shared_future<CompileResult>> kernels_;
  std::map<DType, Known> known_;
};

}  // namespace fatune
