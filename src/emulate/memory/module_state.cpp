#include "emulate/memory/module_state.hpp"

#include <utility>

namespace fatune::emulate {

ModuleState loaded_state(const Program& program) {
  ModuleState state;
  for (const ModuleVariable& variable : program.variables) {
    state.push_back(variable.bytes);
  }
  return state;
}

ModuleState state_in(const Program& program, const GlobalMemory& memory) {
  ModuleState state;
  for (const ModuleVariable& variable : program.variables) {
    state.push_back(memory.at(variable.address).bytes);
  }
  return state;
}

void put_state(const Program& program, const ModuleState& state, GlobalMemory& memory) {
  for (std::size_t i = 0; i < program.variables.size(); ++i) {
    Allocation allocation;
    allocation.name = program.variables[i].name;
    allocation.address = program.variables[i].address;
    allocation.bytes = state[i];
    memory.place(std::move(allocation));
  }
}

}  // namespace fatune::emulate
