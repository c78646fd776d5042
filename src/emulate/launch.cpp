#include "emulate/launch.hpp"

#include <utility>

#include "emulate/cluster_runner.hpp"
#include "emulate/execution.hpp"

namespace fatune::emulate {

LaunchResult run_kernel(const Program& program, GlobalMemory& memory, const LaunchSetup& setup) {
  LaunchResult result;
  result.counts.resize(program.instructions.size());
  for (const ModuleVariable& variable : program.variables) {
    Allocation allocation;
    allocation.name = variable.name;
    allocation.address = variable.address;
    allocation.bytes = variable.bytes;
    memory.place(std::move(allocation));
  }
  const std::uint32_t clusters = cluster_count(setup);
  LaunchState state;
  state.shadow.keep_ends(setup.checks.both_ends);
  for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
    if (setup.chosen && !setup.chosen(first_block(setup, cluster))) {
      continue;
    }
    Execution execution(program, memory, setup, result, state, cluster);
    if (!ClusterRunner(execution).run()) {
      return result;
    }
  }
  result.finished = true;
  return result;
}

}  // namespace fatune::emulate
