#include "ptx/slice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ptx/paths.hpp"

namespace fatune {
namespace {

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
    open.insert(open.end(), here.predecessors.begin(), here.predecessors.end());
  }

  const PtxFunction& function_;
  const PtxPaths paths_;
  std::vector<std::vector<std::size_t>> writers_;       ///< who writes each register, in order
  std::set<std::pair<std::size_t, std::size_t>> seen_;  ///< register and block
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
  std::vector<SliceStep> steps;
  for (const auto& [index, away] : found) {
    steps.push_back({index, away});
  }
  return steps;
}

}  // namespace fatune
