#include "ptx/undefined_reads.hpp"

#include <algorithm>

#include "core/ranges.hpp"
#include "ptx/paths.hpp"

namespace fatune {
namespace {

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

std::vector<UndefinedRead> find_undefined_reads(const PtxFunction& function) {
  return Analysis(function).run();
}

}  // namespace fatune
