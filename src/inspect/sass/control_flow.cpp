#include "inspect/sass/control_flow.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"

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
    std::ranges::sort(next);
    next.erase(std::unique(next.begin(), next.end()), next.end());
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

}  // namespace fatune
