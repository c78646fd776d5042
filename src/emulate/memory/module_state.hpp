#pragma once

#include <cstdint>
#include <vector>

#include "emulate/memory/global_memory.hpp"
#include "emulate/program.hpp"

namespace fatune::emulate {

/// What a module's variables hold between launches, in the order of Program::variables.
using ModuleState = std::vector<std::vector<std::uint8_t>>;

/// As the module is loaded.
[[nodiscard]] ModuleState loaded_state(const Program& program);
/// As launches have left it in `memory`. Precondition: one has run there.
[[nodiscard]] ModuleState state_in(const Program& program, const GlobalMemory& memory);
/// What the next launch there begins with. Precondition: none has run there.
void put_state(const Program& program, const ModuleState& state, GlobalMemory& memory);

}  // namespace fatune::emulate
