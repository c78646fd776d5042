#include "sass/loop_place.hpp"

namespace fatune {

std::string_view place_name(LoopPlace place) {
  switch (place) {
    case LoopPlace::always:
      return "loop";
    case LoopPlace::conditional:
      return "conditional";
    case LoopPlace::outside:
      break;
  }
  return "";
}

std::vector<LoopPlace> block_places(const ControlFlow& flow, const Loop* loop) {
  std::vector<LoopPlace> places(flow.blocks.size(), LoopPlace::outside);
  if (loop != nullptr) {
    for (const std::size_t block : loop->blocks) {
      places[block] =
          always_executed(flow, *loop, block) ? LoopPlace::always : LoopPlace::conditional;
    }
  }
  return places;
}

std::vector<LoopPlace> loop_places(const SassFunction& function) {
  const ControlFlow flow = control_flow(function);
  const LoopForest forest = find_loops(flow);
  const auto main = main_loop(function, flow, forest);
  const auto blocks = block_places(flow, main ? &forest.loops[*main] : nullptr);
  std::vector<LoopPlace> places(function.instructions.size(), LoopPlace::outside);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t i = flow.blocks[b].first; i < flow.blocks[b].end; ++i) {
      places[i] = blocks[b];
    }
  }
  return places;
}

}  // namespace fatune
