#pragma once

#include <string_view>
#include <vector>

#include "emulate/execution.hpp"

namespace fatune::emulate {

/// Lanes of a warp that wait or poll in vain.
struct WaitingGroup {
  Execution* x = nullptr;
  Warp* warp = nullptr;
  const Group* group = nullptr;
};

/// Reports a deadlock. The cause cannot be known, so each instruction where a group waits gets a
/// finding, which names all waits and then says `also`. Waits for bytes that no copy brings come
/// first, then those at barriers.
void report_deadlock(std::vector<WaitingGroup> waiting, std::string_view also);

}  // namespace fatune::emulate
