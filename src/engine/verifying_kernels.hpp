#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/file_tree.hpp"
#include "gpu/compiler.hpp"
#include "gpu/cubin_cache.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"

namespace fatune {

/// Reads the sources of kernels that measuring needs from `kernels/`. `names`: the translation
/// unit, then its headers (measurement_source_names(), matmul_source_names()).
[[nodiscard]] std::shared_ptr<const SourceBundle> read_kernel_sources(
    const FileTree& tree, const std::vector<std::string>& names);

/// Compiles on a separate thread. `cache` may be null. It must outlive the last copy of the result,
/// whose destructor waits for the compiler.
[[nodiscard]] inline std::shared_future<CompileResult> compile_in_background(CompileRequest request,
                                                                             CubinCache* cache) {
  return std::async(std::launch::async,
                    [request = std::move(request), cache] { return compile(request, cache); })
      .share();
}

/// The kernels that make inputs and references, and compare. They are compiled in the background
/// before they are needed.
class VerifyingKernels {
 public:
  /// Starts to compile the kernels for these problems. `cache` may be null; it must outlive this.
  VerifyingKernels(std::shared_ptr<const SourceBundle> sources,
                   const std::vector<Problem>& problems, Arch arch, CubinCache* cache);

  /// Waits for the kernels of a problem. Throws Error(gpu_failure) with the compiler's log if they
  /// do not compile.
  [[nodiscard]] const Artifact& of(const Problem& problem) const;

 private:
  /// dtype, kv_dtype, d_head and d_head_v: all that the kernels depend on.
  using Key = std::tuple<DType, DType, std::int64_t, std::int64_t>;
  [[nodiscard]] static Key key_of(const Problem& problem) {
    return {problem.dtype, problem.kv_dtype, problem.d_head, problem.d_head_v};
  }

  std::shared_ptr<const SourceBundle> sources_;
  std::map<Key, std::shared_future<CompileResult>> results_;
};

/// The setup for measuring rates of dense products and of reads. Without sources none are measured.
struct RatesSetup {
  std::shared_ptr<const SourceBundle> sources;
  Arch arch;
  CubinCache* cache = nullptr;  ///< may be null; must outlive the rates
};

/// What a GPU reaches at most, by element type of the products, of 16 bits. They are measured when
/// a problem begins, and again for a later one, because a GPU becomes slower as it gets warm. A
/// failure loses the rates and has no other effect.
class RatesByType {
 public:
  using Measure = std::function<DeviceRates(const Artifact&)>;
  using Clock = std::chrono::steady_clock;

  /// Starts to compile the kernels for the element types of these problems. `measure` may throw an
  /// Error. A rate is reused for problems that begin within `lasts` of its measurement.
  RatesByType(const RatesSetup& setup, const std::vector<Problem>& problems, Measure measure,
              Clock::duration lasts = std::chrono::seconds(10));

  /// The rates for an element type. Empty: none is measured, or a warning has given the reason.
  [[nodiscard]] std::optional<DeviceRates> of(DType dtype);

 private:
  struct Known {
    DeviceRates rates;
    Clock::time_point at;
  };

  Measure measure_;
  Clock::duration lasts_;
  std::map<DType, std::shared_future<CompileResult>> kernels_;
  std::map<DType, Known> known_;
};

}  // namespace fatune
