#pragma once

#include <string_view>
#include <vector>

#include "sass/control_flow.hpp"
#include "sass/listing.hpp"
#include "sass/loops.hpp"

namespace fatune {

/// The place of an instruction with respect to the main loop.
enum class LoopPlace {
  outside,
  always,       ///< every iteration runs it
  conditional,  ///< an iteration may skip it
};
[[nodiscard]] std::string_view place_name(LoopPlace place);  ///< "", "loop", "conditional"

/// The place of each block. `loop`: null if there is no main loop.
[[nodiscard]] std::vector<LoopPlace> block_places(const ControlFlow& flow, const Loop* loop);

/// The place of each instruction. Precondition: the function has instructions.
[[nodiscard]] std::vector<LoopPlace> loop_places(const SassFunction& function);

}  // namespace fatune
