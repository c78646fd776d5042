#include "inspect/sass/loops.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "inspect/sass/opcode_class.hpp"

namespace fatune {
namespace {

constexpr std::size_t kMostBlocks = 20'000;

using LabelPlaces = std::unordered_map<std::string_view, std::size_t>;

bool is_branch(const Instruction& instruction) {
  constexpr std::array<std::string_view, 6> kBranches{"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"};
  return is_among(instruction.opcode(), kBranches);
}

bool is_end(const Instruction& instruction) {
  constexpr std::array<std::string_view, 4> kEnds{"EXIT", "RET", "KILL", "RTT"};
  return is_among(instruction.opcode(), kEnds);
}

bool always_true(std::string_view predicate) {
  return predicate.empty() || predicate == "PT" || predicate == "UPT";
}

/// Some branches have their condition as an operand before the target: BRA.U UP0, `(.L_x_0).
bool is_conditional(const Instruction& instruction) {
  if (!always_true(instruction.guard)) {
    return true;
  }
  return is_branch(instruction) && instruction.operands.size() > 1 &&
         !always_true(instruction.operands.front());
}

/// The possible targets of a branch, as indices of instructions of the function.
std::vector<std::size_t> jump_places(const Instruction& instruction, const LabelPlaces& places) {
  std::vector<std::size_t> found;
  if (is_branch(instruction) || instruction.opcode() == "CALL") {
    for (const std::string& target : instruction.targets) {
      if (const auto place = places.find(target); place != places.end()) {
        found.push_back(place->second);
      }
    }
  }
  return found;
}

bool goes_on(const Instruction& instruction, bool jumps) {
  const bool leaves =
      is_branch(instruction) || is_end(instruction) || (instruction.opcode() == "CALL" && jumps);
  return !leaves || is_conditional(instruction);
}

LabelPlaces places_of(const SassFunction& function) {
  LabelPlaces places;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    for (const std::string& label : function.instructions[i].labels) {
      places.emplace(label, i);
    }
  }
  return places;
}

/// Marks the instructions that begin a block.
std::vector<bool> leaders(const SassFunction& function, const LabelPlaces& places) {
  std::vector<bool> leads(function.instructions.size() + 1, false);
  leads.front() = true;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction& instruction = function.instructions[i];
    const std::vector<std::size_t> jumps = jump_places(instruction, places);
    for (const std::size_t place : jumps) {
      leads[place] = true;
    }
    if (!jumps.empty() || is_branch(instruction) || is_end(instruction)) {
      leads[i + 1] = true;
    }
  }
  return leads;
}

std::vector<std::size_t> add_blocks(const std::vector<bool>& leads, ControlFlow& flow) {
  std::vector<std::size_t> block_of;
  for (std::size_t i = 0; i + 1 < leads.size(); ++i) {
    if (leads[i]) {
      flow.blocks.push_back({i, i, {}, {}});
    }
    flow.blocks.back().end = i + 1;
    block_of.push_back(flow.blocks.size() - 1);
  }
  return block_of;
}

void add_edges(const SassFunction& function, const LabelPlaces& places,
               const std::vector<std::size_t>& block_of, ControlFlow& flow) {
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    const Instruction& last = function.instructions[flow.blocks[b].end - 1];
    std::vector<std::size_t>& next = flow.blocks[b].successors;
    const std::vector<std::size_t> jumps = jump_places(last, places);
    for (const std::size_t place : jumps) {
      next.push_back(block_of[place]);
    }
    if (goes_on(last, !jumps.empty()) && b + 1 < flow.blocks.size()) {
      next.push_back(b + 1);
    }
    sort_unique(next);
    for (const std::size_t to : next) {
      flow.blocks[to].predecessors.push_back(b);
    }
  }
}

/// Returns the blocks in postorder, by a depth-first search without recursion, so that a hostile
/// listing cannot exhaust the stack. `is_root` receives where paths begin.
std::vector<std::size_t> postorder(const ControlFlow& flow, std::vector<bool>& is_root) {
  std::vector<std::size_t> order;
  std::vector<bool> seen(flow.blocks.size());
  const auto visit_from = [&](std::size_t root) {
    if (seen[root]) {
      return;
    }
    is_root[root] = seen[root] = true;
    std::vector<std::pair<std::size_t, std::size_t>> path{{root, 0}};  // blocks, next successors
    while (!path.empty()) {
      auto& [block, next] = path.back();
      const std::vector<std::size_t>& successors = flow.blocks[block].successors;
      if (next == successors.size()) {
        order.push_back(block);
        path.pop_back();
      } else if (const std::size_t to = successors[next++]; !seen[to]) {
        seen[to] = true;
        path.emplace_back(to, 0);
      }
    }
  };
  visit_from(0);
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    if (flow.blocks[b].predecessors.empty()) {
      visit_from(b);
    }
  }
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    visit_from(b);
  }
  return order;
}

/// Finds dominators by iteration to a fixed point, with one root above all entries.
/// Source: K. D. Cooper, T. J. Harvey and K. Kennedy, A Simple, Fast Dominance Algorithm (2001).
void find_dominators(ControlFlow& flow) {
  const std::size_t count = flow.blocks.size();  // also the number of the root
  std::vector<bool> is_root(count);
  const std::vector<std::size_t> order = postorder(flow, is_root);
  std::vector<std::size_t> rank(count + 1,
                                count);  // places in postorder; the root's is the highest
  std::vector<std::optional<std::size_t>> dominators(count + 1);
  dominators[count] = count;
  for (std::size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    dominators[i] = is_root[i] ? std::optional(count) : std::nullopt;
  }
  const auto meet = [&](std::size_t a, std::size_t b) {
    while (a != b) {
      std::size_t& lower = rank[a] < rank[b] ? a : b;
      lower = *dominators[lower];
    }
    return a;
  };
  for (bool changed = true; std::exchange(changed, false);) {
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      std::optional<std::size_t> common = dominators[*block];
      if (!is_root[*block]) {
        common.reset();
        for (const std::size_t before : flow.blocks[*block].predecessors) {
          if (dominators[before]) {
            common = common ? meet(*common, before) : before;
          }
        }
      }
      changed = changed || dominators[*block] != common;
      dominators[*block] = common;
    }
  }
  for (std::size_t b = 0; b < count; ++b) {
    flow.dominators.push_back(dominators[b] == count ? std::nullopt : dominators[b]);
    flow.order.push_back(count - 1 - rank[b]);
  }
}

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
      append(open, flow.blocks[block].predecessors);
    }
  }
  loop.blocks = filtered(indices_of(inside), [&](std::size_t block) { return inside[block]; });
  return loop;
}

/// Larger loops come first, so that the last one that claims a block is its innermost.
void nest(LoopForest& forest) {
  std::vector<std::size_t> by_size(forest.loops.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
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
  return mapped(forest.loops, [&](const Loop& loop) {
    return is_uniform_loop(function, flow, loop) ? 0 : count_bulk_loads(function, flow, loop);
  });
}

/// True if the loop contains another loop with loads, or the main loop.
bool is_around_another(const LoopForest& forest, std::size_t outer,
                       const std::vector<std::size_t>& loads, std::optional<std::size_t> main) {
  return std::ranges::any_of(indices_of(loads), [&](std::size_t i) {
    return (loads[i] > 0 || i == main) && is_within(forest.loops[i], forest.loops[outer]);
  });
}

}  // namespace

bool ControlFlow::dominates(std::size_t a, std::size_t b) const {
  std::optional<std::size_t> at = b;
  while (at && order[*at] > order[a]) {
    at = dominators[*at];
  }
  return at == a;
}

ControlFlow control_flow(const SassFunction& function) {
  const LabelPlaces places = places_of(function);
  ControlFlow flow;
  const std::vector<std::size_t> block_of = add_blocks(leaders(function, places), flow);
  if (flow.blocks.size() > kMostBlocks) {
    throw Error(ExitCode::bad_file,
                fmt::format("more than {} basic blocks in one function", kMostBlocks),
                function.name);
  }
  add_edges(function, places, block_of, flow);
  find_dominators(flow);
  return flow;
}

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
    std::size_t warpgroup = 0;  // each multiplies what tens of a warp's do
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
      weight.warpgroup += instruction.opcode().ends_with("GMMA") ? 1U : 0U;
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
  return sum_of<std::size_t>(loop.blocks, [&](std::size_t block) {
    return static_cast<std::size_t>(
        std::ranges::count_if(instructions_of(function, flow.blocks[block]), is_bulk_load));
  });
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
