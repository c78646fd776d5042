#include "app/measuring_evaluator.hpp"

#include <string>
#include <vector>

#include "compile/compiler.hpp"
#include "core/error.hpp"
#include "measure/measurement_kernels.hpp"

namespace fatune {
namespace {

std::shared_ptr<const SourceBundle> read_measurement_sources(const FileTree& tree) {
  auto bundle = std::make_shared<SourceBundle>();
  for (const std::string& name : measurement_source_names()) {
    SourceFile file{name, tree.read("kernels/" + name)};
    if (bundle->main.name.empty()) {
      bundle->main = std::move(file);
    } else {
      bundle->headers.push_back(std::move(file));
    }
  }
  return bundle;
}

DeviceLimits with_free_memory(DeviceLimits limits, const gpu::Context& context) {
  limits.free_memory_bytes = context.memory().free_bytes;
  return limits;
}

}  // namespace

MeasuringEvaluator::MeasuringEvaluator(const FileTree& tree, Target& target,
                                       const MeasurePolicy& policy, CubinCache* cache,
                                       const std::function<void()>& on_wait)
    : lock_(target.limits.uuid, on_wait),
      context_(target.device.value()),
      sources_(read_measurement_sources(tree)),
      arch_(target.limits.arch),
      cache_(cache) {
  target.limits = with_free_memory(target.limits, context_);
  measurer_ = std::make_unique<GpuMeasurer>(context_, target.limits, policy);
}

const Artifact& MeasuringEvaluator::kernels_for(const Problem& problem) {
  const std::pair key{problem.dtype, problem.d_head};
  const auto known = kernels_.find(key);
  if (known != kernels_.end()) {
    return known->second;
  }
  CompileResult result = compile(measurement_request(sources_, problem, arch_), cache_);
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    throw Error(ExitCode::gpu_failure, "the kernels that verify results do not compile",
                "kernels/" + sources_->main.name, failed->log);
  }
  return kernels_.emplace(key, std::get<Artifact>(std::move(result))).first->second;
}

void MeasuringEvaluator::begin_problem(const Problem& problem) {
  measurer_->begin_problem(problem, kernels_for(problem));
}

Outcome MeasuringEvaluator::evaluate(const Entry&, const Candidate& candidate) {
  return measurer_->measure(candidate);
}

}  // namespace fatune
