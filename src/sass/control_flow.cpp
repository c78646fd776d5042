#include "sass/control_flow.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/ranges.hpp"

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

/// Depth-first search without recursion, so that a hostile listing cannot exhaust the stack.
class Postorder {
 public:
  explicit Postorder(const ControlFlow& flow) : flow_(flow), seen_(flow.blocks.size(), false) {}

  /// Returns the blocks in postorder. `roots` receives the blocks where paths begin.
  std::vector<std::size_t> visit(std::vector<std::size_t>& roots) {
    visit_from(0, roots);
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      if (!seen_[b] && flow_.blocks[b].predecessors.empty()) {
        visit_from(b, roots);
      }
    }
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      if (!seen_[b]) {
        visit_from(b, roots);
      }
    }
    return std::move(order_);
  }

 private:
  struct Step {
    std::size_t block;
    std::size_t next;
  };

  void visit_from(std::size_t root, std::vector<std::size_t>& roots) {
    roots.push_back(root);
    seen_[root] = true;
    std::vector<Step> path{{root, 0}};
    while (!path.empty()) {
      const std::vector<std::size_t>& successors = flow_.blocks[path.back().block].successors;
      if (path.back().next == successors.size()) {
        order_.push_back(path.back().block);
        path.pop_back();
        continue;
      }
      const std::size_t next = successors[path.back().next++];
      if (!seen_[next]) {
        seen_[next] = true;
        path.push_back({next, 0});
      }
    }
  }

  const ControlFlow& flow_;
  std::vector<bool> seen_;
  std::vector<std::size_t> order_;
};

/// Finds dominators by iteration to a fixed point, with one root above all entries.
/// Source: K. D. Cooper, T. J. Harvey and K. Kennedy, A Simple, Fast Dominance Algorithm (2001).
class DominatorSearch {
 public:
  DominatorSearch(ControlFlow& flow, std::vector<std::size_t> postorder,
                  const std::vector<std::size_t>& roots)
      : flow_(flow),
        postorder_(std::move(postorder)),
        root_(flow.blocks.size()),
        rank_(flow.blocks.size() + 1, flow.blocks.size()),
        idom_(flow.blocks.size() + 1) {
    for (std::size_t i = 0; i < postorder_.size(); ++i) {
      rank_[postorder_[i]] = i;
    }
    idom_[root_] = root_;
    for (const std::size_t root : roots) {
      idom_[root] = root_;
    }
    is_root_.assign(flow.blocks.size(), false);
    for (const std::size_t root : roots) {
      is_root_[root] = true;
    }
  }

  void run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = postorder_.rbegin(); block != postorder_.rend(); ++block) {
        changed = update(*block) || changed;
      }
    }
    store();
  }

 private:
  bool update(std::size_t block) {
    if (is_root_[block]) {
      return false;
    }
    std::optional<std::size_t> common;
    for (const std::size_t before : flow_.blocks[block].predecessors) {
      if (idom_[before]) {
        common = common ? meet(*common, before) : before;
      }
    }
    const bool changed = idom_[block] != common;
    idom_[block] = common;
    return changed;
  }

  std::size_t meet(std::size_t a, std::size_t b) const {
    while (a != b) {
      std::size_t& lower = rank_[a] < rank_[b] ? a : b;
      lower = *idom_[lower];
    }
    return a;
  }

  void store() {
    flow_.dominators.resize(flow_.blocks.size());
    flow_.order.resize(flow_.blocks.size());
    for (std::size_t b = 0; b < flow_.blocks.size(); ++b) {
      flow_.dominators[b] = idom_[b] == root_ ? std::nullopt : idom_[b];
      flow_.order[b] = postorder_.size() - 1 - rank_[b];
    }
  }

  ControlFlow& flow_;
  std::vector<std::size_t> postorder_;
  std::size_t root_;
  std::vector<std::size_t> rank_;  ///< each block's place in postorder; the root's is the highest
  std::vector<std::optional<std::size_t>> idom_;
  std::vector<bool> is_root_;
};

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
  std::vector<std::size_t> roots;
  std::vector<std::size_t> postorder = Postorder(flow).visit(roots);
  DominatorSearch(flow, std::move(postorder), roots).run();
  return flow;
}

}  // namespace fatune
