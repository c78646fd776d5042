#include "commands/debug/debug.hpp"

#include <utility>

#include "app/run/compiling.hpp"
#include "attention/head_problem.hpp"
#include "compile/compiler.hpp"
#include "engine/measuring_evaluator.hpp"
#include "measure/remote_measurer.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

CompileRequest request_for(const DebuggedKernel& kernel) {
  const auto make_request = kernel.family.debug ? dump_request : compile_request;
  return make_request(kernel.family, kernel.config, kernel.head.problem(), kernel.limits.arch,
                      kernel.limits);
}

std::optional<DumpExtents> dump_of(const DebuggedKernel& kernel) {
  return kernel.family.debug ? std::optional(extents_of(kernel.head)) : std::nullopt;
}

LaunchGeometry launch_of(const DebuggedKernel& kernel, const ResourceFacts* facts) {
  LaunchGeometry launch =
      launch_geometry(kernel.family, kernel.config, kernel.head.problem(), kernel.limits, facts);
  if (const auto dump = dump_of(kernel)) {
    add_dump(*dump, launch.arguments);
  }
  return launch;
}

}  // namespace

DumpExtents extents_of(const HeadProblem& head) {
  return {head.rows(), head.keys(), head.kv_tiles()};
}

DebugResult run_kernel(const DebuggedKernel& kernel, const MeasuringSetup& gpu) {
  if (const auto beyond =
          check_limits(kernel.family, kernel.config, kernel.head.problem(), kernel.limits)) {
    return Outcome{*beyond};
  }
  DebugRequest request;
  request.label = short_form(kernel.family, kernel.config);
  request.problem = kernel.head.problem();
  const auto cache = open_cache(kernel.settings);
  request.artifact = artifact_of(compile(request_for(kernel), cache.get()), request.label);
  request.geometry = launch_of(kernel, &request.artifact.facts);
  request.dump = dump_of(kernel);
  request.q = kernel.inputs.q;
  request.k = kernel.inputs.k;
  request.v = kernel.inputs.v;
  const DeviceLock lock(gpu.uuid, gpu.wait, gpu.on_wait);
  RemoteMeasurer worker(worker_settings(gpu.device_ordinal), MeasurePolicy{});
  return worker.run_for_debug(request);
}

EmulatedDebugResult emulate_kernel_for_debug(const DebuggedKernel& kernel) {
  const auto& [family, config, head, inputs, limits, settings] = kernel;
  const Problem problem = head.problem();
  if (const auto beyond = check_limits(family, config, problem, limits)) {
    return Outcome{*beyond};
  }
  const std::string label = short_form(family, config);
  const auto cache = open_cache(settings);
  const CompileRequest request = request_for(kernel);
  const Artifact artifact =
      artifact_of(compile_to_ptx(with_line_info(request), cache.get()), label);
  auto result =
      emulate_for_debug({label, artifact, *request.sources, launch_of(kernel, nullptr), problem,
                         dump_of(kernel), inputs, shared_tensors(family, config, problem, limits)});
  return std::visit([](auto shown) -> EmulatedDebugResult { return shown; }, std::move(result));
}

}  // namespace fatune
