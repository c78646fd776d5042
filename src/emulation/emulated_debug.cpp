#include "emulation/emulated_debug.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "emulation/emulated_launch.hpp"
#include "emulation/findings.hpp"

namespace fatune {
namespace {

std::variant<EmulatedDebug, NotEmulated> run(const EmulatedKernel& kernel,
                                             const EmulatedDebugCase& of) {
  EmulatedLaunch launch;
  launch.on.problem = of.problem;
  launch.geometry = of.geometry;
  launch.shared_tensors = of.shared_tensors;
  EmulatedRun once;
  once.dump = of.dump;
  EmulatedOutput output = run_naming_ends(kernel.program, launch, of.inputs, once);
  if (!output.result.limit.empty() && output.result.findings.empty()) {
    return NotEmulated{output.result.limit};
  }
  EmulatedDebug shown{
      {std::move(output.output), std::move(output.dump)}, output.result.finished, {}, {}};
  for (const emulate::Finding& finding : output.result.findings.all()) {
    shown.findings.push_back(located(kernel, finding));
  }
  shown.groups = group_findings(shown.findings);
  return shown;
}

}  // namespace

std::variant<EmulatedDebug, NotEmulated> emulate_for_debug(const EmulatedDebugCase& of) {
  if (of.problem.seq_len > kMostEmulatedKeys) {
    return NotEmulated{fmt::format("{} keys are more than the {} that are emulated",
                                   of.problem.seq_len, kMostEmulatedKeys)};
  }
  try {
    return run(read_kernel(of.artifact, of.sources, of.config, of.geometry.arguments), of);
  } catch (const Error& error) {
    return NotEmulated{error.what()};
  }
}

}  // namespace fatune
