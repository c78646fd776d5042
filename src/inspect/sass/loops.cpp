#include "inspect/sass/loops.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "inspect/sass/opcode_class.hpp"

namespace fatune {
namespace {

constexpr std::size_t kMostLoops = 1000;

/// Maps each header to its latches, for every edge back to a dominator.
std::map<std::size_t, std::vector<std::size_t>> back_edges(const ControlFlow& flow,
                                                           std::size_t& irreducible) {
  std::map<std::size_t, std::vector<std::size_t>> latches;
  for (std::size_t from = 0; from < flow.blocks.size(); ++from) {
    for (const std::size_t to : flow.blocks[from].successors) {
      if (flow.dominates(to, from)) {
        latches[to].push_back(from);
      } else if (flow.order[to] <= flow.order[from]) {
        ++irreducible;
      }
    }
  }
  return latches;
}

Loop make_loop(const ControlFlow& flow, std::size_t header, std::vector<std::size_t> latches) {
  Loop loop;
  loop.header = header;
  loop.latches = std::move(latches);
  std::vector<bool> inside(flow.blocks.size(), false);
  inside[header] = true;
  std::vector<std::size_t> open = loop.latches;
  while (!open.empty()) {
    const std::size_t block = open.back();
    open.pop_back();
    if (!inside[block]) {
      inside[block] = true;
      const auto& before = flow.blocks[block].predecessors;
      open.insert(open.end(), before.begin(), before.end());
    }
  }
  for (std::size_t b = 0; b < inside.size(); ++b) {
    if (inside[b]) {
      loop.blocks.push_back(b);
    }
  }
  return loop;
}

/// Larger loops come first, so that the last one that claims a block is its innermost.
void nest(LoopForest& forest) {
  std::vector<std::size_t> by_size(forest.loops.size());
  for (std::size_t i = 0; i < by_size.size(); ++i) {
    by_size[i] = i;
  }
  std::ranges::stable_sort(by_size, [&](std::size_t a, std::size_t b) {
    return forest.loops[a].blocks.size() > forest.loops[b].blocks.size();
  });
  for (const std::size_t index : by_size) {
    Loop& loop = forest.loops[index];
    loop.parent = forest.innermost[loop.header];
    loop.depth = loop.parent ? forest.loops[*loop.parent].depth + 1 : 1;
    for (const std::size_t block : loop.blocks) {
      forest.innermost[block] = index;
    }
  }
}

bool is_bulk_load(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode();
  return opcode == "UTMALDG" || opcode == "UBLKCP";
}

/// True if its only edge back is a branch for the lanes that have another value.
bool is_uniform_loop(const SassFunction& function, const ControlFlow& flow, const Loop& loop) {
  return loop.latches.size() == 1 &&
         function.instructions[flow.blocks[loop.latches.front()].end - 1].mnemonic.starts_with(
             "BRA.U.ANY");
}

bool is_within(const Loop& inner, const Loop& outer) {
  return &inner != &outer && std::ranges::binary_search(outer.blocks, inner.header);
}

/// The bulk loads of each loop; 0 for a uniform loop, which counts as straight-line code.
std::vector<std::size_t> loads_by_loop(const SassFunction& function, const ControlFlow& flow,
                                       const LoopForest& forest) {
  std::vector<std::size_t> loads;
  for (const Loop& loop : forest.loops) {
    loads.push_back(is_uniform_loop(function, flow, loop) ? 0
                                                          : count_bulk_loads(function, flow, loop));
  }
  return loads;
}

/// True if the loop contains another loop with loads, or the main loop.
bool is_around_another(const LoopForest& forest, std::size_t outer,
                       const std::vector<std::size_t>& loads, std::optional<std::size_t> main) {
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if ((loads[i] > 0 || i == main) && is_within(forest.loops[i], forest.loops[outer])) {
      return true;
    }
  }
  return false;
}

}  // namespace

LoopForest find_loops(const ControlFlow& flow) {
  LoopForest forest;
  forest.innermost.resize(flow.blocks.size());
  auto edges = back_edges(flow, forest.irreducible_edges);
  if (edges.size() > kMostLoops) {
    throw Error(ExitCode::bad_file, fmt::format("more than {} loops in one function", kMostLoops));
  }
  for (auto& [header, latches] : edges) {
    forest.loops.push_back(make_loop(flow, header, std::move(latches)));
  }
  nest(forest);
  return forest;
}

std::optional<std::size_t> main_loop(const SassFunction& function, const ControlFlow& flow,
                                     const LoopForest& forest) {
  struct Weight {
    std::size_t tensor = 0;
    int depth = 0;  // only where there are tensor instructions
    std::size_t all = 0;
    auto operator<=>(const Weight&) const = default;
  };
  std::vector<Weight> weights(forest.loops.size());
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    if (!forest.innermost[b]) {
      continue;
    }
    Weight& weight = weights[*forest.innermost[b]];
    for (const Instruction& instruction : instructions_of(function, flow.blocks[b])) {
      weight.tensor += class_of(instruction) == OpcodeClass::tensor ? 1U : 0U;
      ++weight.all;
    }
    weight.depth = weight.tensor > 0 ? forest.loops[*forest.innermost[b]].depth : 0;
  }
  const auto most = std::ranges::max_element(weights);
  return most == weights.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(std::distance(weights.begin(), most)));
}

std::size_t count_bulk_loads(const SassFunction& function, const ControlFlow& flow,
                             const Loop& loop) {
  std::size_t count = 0;
  for (const std::size_t block : loop.blocks) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(instructions_of(function, flow.blocks[block]), is_bulk_load));
  }
  return count;
}

std::optional<std::size_t> producer_loop(const SassFunction& function, const ControlFlow& flow,
                                         const LoopForest& forest,
                                         std::optional<std::size_t> main) {
  const std::vector<std::size_t> loads = loads_by_loop(function, flow, forest);
  std::optional<std::size_t> most;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const bool more = loads[i] > (most ? loads[*most] : 0);
    if (more && i != main && !is_around_another(forest, i, loads, main)) {
      most = i;
    }
  }
  return most;
}

bool always_executed(const ControlFlow& flow, const Loop& loop, std::size_t block) {
  return std::ranges::all_of(loop.latches,
                             [&](std::size_t latch) { return flow.dominates(block, latch); });
}

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
