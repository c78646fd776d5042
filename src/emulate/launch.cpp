#include "emulate/launch.hpp"

#include <utility>

#include "emulate/block_runner.hpp"
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
  const std::uint32_t blocks = setup.grid[0] * setup.grid[1] * setup.grid[2];
  for (std::uint32_t block = 0; block < blocks; ++block) {
    Execution execution(program, memory, setup, result, block);
    if (!BlockRunner(execution).run()) {
      return result;
    }
  }
  result.finished = true;
  return result;
}

}  // namespace fatune::emulate
