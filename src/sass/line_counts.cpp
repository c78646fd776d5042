#include "sass/line_counts.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sass/loop_place.hpp"

namespace fatune {
namespace {

auto heat(const LineCount& count) {
  return std::tuple(count.own.main_loop, count.with_inlined.main_loop, count.own.total,
                    count.with_inlined.total);
}

std::vector<LineCount> hottest_first(std::map<SourceLine, LineCount>&& counts) {
  std::vector<LineCount> lines;
  for (auto& [line, count] : counts) {
    lines.push_back(std::move(count));
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), heat);
  return lines;
}

/// Removes repeated lines. A recursive function may be inlined into itself.
SourceChain distinct(SourceChain chain) {
  std::ranges::sort(chain);
  chain.erase(std::unique(chain.begin(), chain.end()), chain.end());
  return chain;
}

}  // namespace

LineCounts count_lines(const Listing& listing, const SassFunction& function) {
  const std::vector<LoopPlace> places = loop_places(function);
  LineCounts counts;
  std::map<SourceLine, LineCount> lines;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Instruction& instruction = function.instructions[i];
    const SourceChain& chain = listing.places.at(instruction.place);
    add(counts.all, places[i]);
    if (chain.empty()) {
      add(counts.without_line, places[i]);
      continue;
    }
    for (const SourceLine& line : distinct(chain)) {
      LineCount& count = lines[line];
      count.at = line;
      add(count.with_inlined, places[i]);
    }
    LineCount& own = lines[chain.front()];
    add(own.own, places[i]);
    add(own.classes.at(static_cast<std::size_t>(class_of(instruction))), places[i]);
  }
  counts.lines = hottest_first(std::move(lines));
  return counts;
}

}  // namespace fatune
