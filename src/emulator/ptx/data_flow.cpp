#include "emulator/ptx/data_flow.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/ranges.hpp"

namespace fatune {
namespace {

/// A basic block: entered only at its first statement, and left only after its last.
struct PtxBlock {
  std::size_t first = 0;  ///< index into the function's statements
  std::size_t end = 0;    ///< one past the last
  std::vector<std::size_t> predecessors;
};

struct PtxPaths {
  std::vector<PtxBlock> blocks;       ///< ordered by line
  std::vector<std::size_t> block_of;  ///< the block of each statement
};

using Labels = std::map<std::string, std::size_t, std::less<>>;

bool is(const PtxStatement& statement, std::string_view opcode) {
  return std::string_view(statement.opcode).substr(0, statement.opcode.find('.')) == opcode;
}

/// True for statements that are not always followed by the next one.
bool leaves(const PtxStatement& statement) {
  constexpr std::array<std::string_view, 5> kOpcodes{"bra", "brx", "ret", "exit", "trap"};
  return std::ranges::any_of(kOpcodes,
                             [&](std::string_view opcode) { return is(statement, opcode); });
}

std::vector<std::size_t> targets(const PtxStatement& statement, const Labels& labels) {
  std::vector<std::size_t> found;
  if (is(statement, "brx")) {
    return mapped(labels, &Labels::value_type::second);
  }
  if (is(statement, "bra")) {
    for (const std::string& name : statement.names) {
      if (const std::size_t* const label = value_at(labels, name)) {
        found.push_back(*label);
      }
    }
  }
  return found;
}

Labels labels_of(const PtxFunction& function) {
  Labels labels;
  for (std::size_t i = 0; i < function.statements.size(); ++i) {
    for (const std::string& label : function.statements[i].labels) {
      labels[label] = i;
    }
  }
  return labels;
}

PtxPaths split(const PtxFunction& function) {
  PtxPaths paths;
  const auto& all = function.statements;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || leaves(all[i - 1]) || !all[i].labels.empty()) {
      paths.blocks.push_back({i, i, {}});
    }
    paths.blocks.back().end = i + 1;
    paths.block_of.push_back(paths.blocks.size() - 1);
  }
  return paths;
}

/// Finds the basic blocks and the predecessors of each. A branch whose labels are not known (brx)
/// may go to every label.
PtxPaths find_paths(const PtxFunction& function) {
  const Labels labels = labels_of(function);
  PtxPaths paths = split(function);
  for (std::size_t b = 0; b < paths.blocks.size(); ++b) {
    const PtxStatement& last = function.statements[paths.blocks[b].end - 1];
    if (b + 1 < paths.blocks.size() && (!leaves(last) || !last.guard.empty())) {
      paths.blocks[b + 1].predecessors.push_back(b);
    }
    for (const std::size_t target : targets(last, labels)) {
      paths.blocks[paths.block_of[target]].predecessors.push_back(b);
    }
  }
  return paths;
}

/// Finds the writes of registers that may reach a statement. The end of a block is searched once
/// for each register, because the first way to it is the shortest.
class Writers {
 public:
  explicit Writers(const PtxFunction& function)
      : function_(function), paths_(find_paths(function)), writers_(function.registers.size()) {
    for (std::size_t i = 0; i < function.statements.size(); ++i) {
      for (const std::size_t index : function.statements[i].writes) {
        writers_.at(index).push_back(i);
      }
    }
  }

  /// May leave out statements that were already found for another statement.
  std::vector<std::size_t> of(std::size_t statement, std::size_t index) {
    std::vector<std::size_t> found;
    std::vector<std::size_t> open;
    search(paths_.block_of.at(statement), statement, index, found, open);
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      if (seen_.emplace(index, block).second) {
        search(block, paths_.blocks[block].end, index, found, open);
      }
    }
    return found;
  }

 private:
  /// Searches the block before `end`. Adds its predecessors to `open` unless a write always
  /// happens.
  void search(std::size_t block, std::size_t end, std::size_t index,
              std::vector<std::size_t>& found, std::vector<std::size_t>& open) const {
    const std::vector<std::size_t>& all = writers_.at(index);
    const PtxBlock& here = paths_.blocks[block];
    auto writer = std::ranges::lower_bound(all, end);
    while (writer != all.begin() && *(writer - 1) >= here.first) {
      --writer;
      found.push_back(*writer);
      if (function_.statements[*writer].guard.empty()) {
        return;
      }
    }
    append(open, here.predecessors);
  }

  const PtxFunction& function_;
  const PtxPaths paths_;
  std::vector<std::vector<std::size_t>> writers_;       ///< who writes each register, in order
  std::set<std::pair<std::size_t, std::size_t>> seen_;  ///< register and block
};

/// For each register, whether something may have written it.
using Defined = std::vector<bool>;

bool hands_on(const PtxStatement& statement) {
  return statement.opcode.starts_with("mov.") || statement.opcode.starts_with("selp.");
}

/// True for reads that need no defined value: see the header.
bool may_be_undefined(const PtxStatement& statement, std::size_t reg) {
  return hands_on(statement) ||
         (statement.opcode.starts_with("wgmma.mma_async") && is_among(reg, statement.writes));
}

/// Applies a statement. It defines nothing if it passes on only undefined values, or if it computes
/// a register from that register's own value. In a loop, such a register would seem to be defined
/// by the previous iteration.
void pass(const PtxStatement& statement, Defined& defined) {
  const bool hands_on_nothing =
      hands_on(statement) && !statement.reads.empty() &&
      std::ranges::none_of(statement.reads, [&](std::size_t reg) { return defined[reg]; });
  for (const std::size_t reg : statement.writes) {
    const bool made_of_itself = is_among(reg, statement.reads) && !may_be_undefined(statement, reg);
    defined[reg] = defined[reg] || !(hands_on_nothing || made_of_itself);
  }
}

class Analysis {
 public:
  explicit Analysis(const PtxFunction& function)
      : function_(function),
        paths_(find_paths(function)),
        at_end_(paths_.blocks.size(), Defined(function.registers.size())) {}

  [[nodiscard]] std::vector<UndefinedRead> run() {
    while (spread()) {
    }
    std::vector<UndefinedRead> found;
    for (std::size_t b = 0; b < paths_.blocks.size(); ++b) {
      collect(b, found);
    }
    return found;
  }

 private:
  [[nodiscard]] const PtxStatement& statement(std::size_t index) const {
    return function_.statements[index];
  }

  [[nodiscard]] Defined at_begin(std::size_t block) const {
    Defined defined(function_.registers.size());
    for (const std::size_t before : paths_.blocks[block].predecessors) {
      for (std::size_t reg = 0; reg < defined.size(); ++reg) {
        defined[reg] = defined[reg] || at_end_[before][reg];
      }
    }
    return defined;
  }

  /// Returns true if some block's end has changed. Registers only become defined, so the iteration
  /// ends.
  bool spread() {
    bool changed = false;
    for (std::size_t b = 0; b < paths_.blocks.size(); ++b) {
      Defined defined = at_begin(b);
      for (std::size_t i = paths_.blocks[b].first; i < paths_.blocks[b].end; ++i) {
        pass(statement(i), defined);
      }
      changed = changed || defined != at_end_[b];
      at_end_[b] = std::move(defined);
    }
    return changed;
  }

  void collect(std::size_t block, std::vector<UndefinedRead>& found) const {
    Defined defined = at_begin(block);
    for (std::size_t i = paths_.blocks[block].first; i < paths_.blocks[block].end; ++i) {
      for (const std::size_t reg : statement(i).reads) {
        if (!defined[reg] && !may_be_undefined(statement(i), reg)) {
          found.push_back({i, reg});
        }
      }
      pass(statement(i), defined);
    }
  }

  const PtxFunction& function_;
  PtxPaths paths_;
  std::vector<Defined> at_end_;  ///< what is defined at each block's end
};

}  // namespace

std::vector<SliceStep> feeding_statements(const PtxFunction& function,
                                          const std::vector<std::size_t>& selected, int depth) {
  Writers writers(function);
  std::map<std::size_t, int> found;
  std::vector<std::size_t> front = selected;
  for (const std::size_t index : selected) {
    found.try_emplace(index, 0);
  }
  for (int step = 1; !front.empty() && (depth == 0 || step <= depth); ++step) {
    std::vector<std::size_t> next;
    for (const std::size_t statement : front) {
      for (const std::size_t read : function.statements.at(statement).reads) {
        for (const std::size_t writer : writers.of(statement, read)) {
          if (found.try_emplace(writer, step).second) {
            next.push_back(writer);
          }
        }
      }
    }
    front = std::move(next);
  }
  return mapped(found, [](const auto& step) { return SliceStep{step.first, step.second}; });
}

std::vector<UndefinedRead> find_undefined_reads(const PtxFunction& function) {
  return Analysis(function).run();
}

}  // namespace fatune
