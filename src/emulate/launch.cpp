#include "emulate/launch.hpp"

#include <utility>

#include "emulate/resident_clusters.hpp"

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
  result.finished = ResidentClusters(program, memory, setup, result).run();
  return result;
}

}  // namespace fatune::emulate
