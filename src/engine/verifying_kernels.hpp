#pragma once

#include <future>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "attention/problem.hpp"
#include "compile/compiler.hpp"
#include "compile/cubin_cache.hpp"
#include "core/arch.hpp"
#include "core/kernel_code.hpp"

namespace fatune {

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
  /// dtype, d_head and d_head_v: all that the kernels depend on.
  using Key = std::tuple<DType, std::int64_t, std::int64_t>;
  [[nodiscard]] static Key key_of(const Problem& problem) {
    return {problem.dtype, problem.d_head, problem.d_head_v};
  }

  std::shared_ptr<const SourceBundle> sources_;
  std::map<Key, std::shared_future<CompileResult>> results_;
};

}  // namespace fatune
