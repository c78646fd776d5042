#include "ptx/paths.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

namespace fatune {
namespace {

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
    for (const auto& [label, index] : labels) {
      found.push_back(index);
    }
  } else if (is(statement, "bra")) {
    for (const std::string& name : statement.names) {
      if (const auto label = labels.find(name); label != labels.end()) {
        found.push_back(label->second);
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

}  // namespace

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

}  // namespace fatune
