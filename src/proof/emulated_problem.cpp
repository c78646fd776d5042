#include "proof/emulated_problem.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plan/planner.hpp"

namespace fatune {

Problem compared_part(const EmulatedProblem& of) {
  Problem part = of.problem;
  if (of.only_head) {
    part.heads = part.kv_heads = 1;
  }
  return part;
}

std::string describe(const EmulatedProblem& problem) {
  const std::string whole = describe(problem.problem);
  return problem.only_head ? fmt::format("{}, head {} alone", whole, *problem.only_head) : whole;
}

namespace {

std::uint32_t most_resident_blocks(const LaunchGeometry& launch, const DeviceLimits& limits) {
  constexpr int kNotKnown = 0;  // registers per thread
  const auto threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  const int of_sm = blocks_per_sm(limits, threads, kNotKnown, launch.dynamic_smem_bytes);
  return static_cast<std::uint32_t>(std::max(1, of_sm) * std::max(1, limits.sm_count));
}

}  // namespace

EmulatedLaunch planned_launch(const Family& family, const Config& config, const Problem& problem,
                              const DeviceLimits& limits) {
  EmulatedLaunch launch;
  launch.on.problem = problem;
  launch.geometry = launch_geometry(family, config, problem, limits);
  launch.shared_tensors = shared_tensors(family, config, problem, limits);
  launch.resident_blocks = most_resident_blocks(launch.geometry, limits);
  return launch;
}

}  // namespace fatune
