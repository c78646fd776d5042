#pragma once

#include <cstdint>
#include <vector>

#include "emulate/memory/global_memory.hpp"
#include "emulate/program.hpp"

namespace fatune::emulate {

/// The values of a module's variables between launches, in the order of Program::variables.
using ModuleState = std::vector<std::vector<std::uint8_t>>;

/// The state of a newly loaded module.
[[nodiscard]] ModuleState loaded_state(const Program& program);
/// The state that launches have left in `memory`. Precondition: a launch has run there.
[[nodiscard]] ModuleState state_in(const Program& program, const GlobalMemory& memory);
/// Sets the state in which the next launch begins. Precondition: no launch has run in this memory.
void put_state(const Program& program, const ModuleState& state, GlobalMemory& memory);

}  // namespace fatune::emulate
