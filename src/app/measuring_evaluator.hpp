#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "app/device_lock.hpp"
#include "app/evaluator.hpp"
#include "app/target.hpp"
#include "compile/cubin_cache.hpp"
#include "core/kernel_code.hpp"
#include "data/file_tree.hpp"
#include "gpu/context.hpp"
#include "measure/gpu_measurer.hpp"

namespace fatune {

/// Verifies and times on the target's GPU, alone on it.
class MeasuringEvaluator : public Evaluator {
 public:
  /// Precondition: target.device. Waits for the GPU's lock, then fills target.limits'
  /// free_memory_bytes. `on_wait` is called before a wait. `cache` (may be null) must outlive this.
  MeasuringEvaluator(const FileTree& tree, Target& target, const MeasurePolicy& policy,
                     CubinCache* cache, const std::function<void()>& on_wait);

  [[nodiscard]] bool measures() const noexcept override { return true; }
  void begin_problem(const Problem& problem) override;
  [[nodiscard]] Outcome evaluate(const Entry& entry, const Candidate& candidate) override;
  [[nodiscard]] bool lost() const noexcept override { return measurer_->context_lost(); }

 private:
  const Artifact& kernels_for(const Problem& problem);

  DeviceLock lock_;
  gpu::Context context_;
  std::shared_ptr<const SourceBundle> sources_;
  Arch arch_;
  CubinCache* cache_;
  std::unique_ptr<GpuMeasurer> measurer_;
  std::map<std::pair<DType, std::int64_t>, Artifact> kernels_;  ///< by dtype and d_head
};

}  // namespace fatune
