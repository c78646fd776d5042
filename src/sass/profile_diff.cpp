#include "sass/profile_diff.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace fatune {
namespace {

CountChange change(std::string what, const SassCount& a, const SassCount& b) {
  return {std::move(what), {a.main_loop, b.main_loop}, {a.total, b.total}};
}

std::vector<CountChange> greatest_first(std::vector<CountChange> changes) {
  std::erase_if(changes, [](const CountChange& c) { return c.total.before + c.total.after == 0; });
  const auto size = [](const CountChange& c) {
    return std::pair(std::abs(c.main_loop.delta()), std::abs(c.total.delta()));
  };
  std::ranges::stable_sort(changes, std::ranges::greater(), size);
  return changes;
}

}  // namespace

std::vector<CountChange> class_changes(const SassProfile& a, const SassProfile& b) {
  std::vector<CountChange> changes;
  for (const OpcodeClassText& text : opcode_classes()) {
    changes.push_back(change(std::string(text.name), a.of(text.which), b.of(text.which)));
  }
  return greatest_first(std::move(changes));
}

std::vector<CountChange> opcode_changes(const SassProfile& a, const SassProfile& b) {
  std::map<std::string, std::pair<SassCount, SassCount>> counts;
  for (const OpcodeCount& opcode : a.opcodes) {
    counts[opcode.mnemonic].first = opcode.count;
  }
  for (const OpcodeCount& opcode : b.opcodes) {
    counts[opcode.mnemonic].second = opcode.count;
  }
  std::vector<CountChange> changes;
  for (const auto& [mnemonic, both] : counts) {
    changes.push_back(change(mnemonic, both.first, both.second));
  }
  return greatest_first(std::move(changes));
}

}  // namespace fatune
