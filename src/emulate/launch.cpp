#include "emulate/launch.hpp"

#include "emulate/memory/module_state.hpp"
#include "emulate/schedule/resident_clusters.hpp"

namespace fatune::emulate {

LaunchResult run_kernel(const Program& program, GlobalMemory& memory, const LaunchSetup& setup) {
  LaunchResult result;
  result.counts.resize(program.instructions.size());
  put_state(program, loaded_state(program), memory);
  result.finished = ResidentClusters(program, memory, setup, result).run();
  return result;
}

}  // namespace fatune::emulate
