#include "inspect/sass/profile.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/ranges.hpp"

namespace fatune {
namespace {

bool calls_function(const Instruction& instruction) {
  return instruction.opcode() == "CALL" &&
         std::ranges::none_of(instruction.targets,
                              [](const std::string& target) { return target.starts_with(".L"); });
}

void add_tensor_flop(const Instruction& instruction, std::optional<std::int64_t>& sum) {
  const auto flop = tensor_flop(instruction.mnemonic);
  sum = sum && flop ? std::optional(*sum + *flop) : std::nullopt;
}

/// The addresses of a loop's first and last instruction.
std::pair<std::uint64_t, std::uint64_t> addresses_of(const SassFunction& function,
                                                     const ControlFlow& flow, const Loop& loop) {
  return {function.instructions[flow.blocks[loop.blocks.front()].first].address,
          function.instructions[flow.blocks[loop.blocks.back()].end - 1].address};
}

MainLoop describe_loop(const SassFunction& function, const ControlFlow& flow,
                       const LoopForest& forest, std::size_t index) {
  const Loop& loop = forest.loops[index];
  MainLoop main;
  std::tie(main.first_address, main.last_address) = addresses_of(function, flow, loop);
  main.depth = loop.depth;
  main.inner_loops = std::ranges::count_if(forest.loops, [&](const Loop& other) {
    return &other != &loop && std::ranges::binary_search(loop.blocks, other.header);
  });
  main.tensor_flop = 0;
  for (const std::size_t block : loop.blocks) {
    for (const Instruction& instruction : instructions_of(function, flow.blocks[block])) {
      main.calls += calls_function(instruction) ? 1 : 0;
      if (class_of(instruction) == OpcodeClass::tensor) {
        add_tensor_flop(instruction, main.tensor_flop);
      }
    }
  }
  return main;
}

std::vector<OpcodeCount> sorted(const std::map<std::string_view, OpcodeCount>& counts) {
  auto list = mapped(counts, [](const auto& count) { return count.second; });
  std::ranges::stable_sort(list, std::ranges::greater(), [](const OpcodeCount& opcode) {
    return std::pair(opcode.count.main_loop, opcode.count.total);
  });
  return list;
}

/// `producer`: null if there is no producer loop.
void count_instructions(const SassFunction& function, const ControlFlow& flow,
                        const std::vector<LoopPlace>& places, const Loop* producer,
                        SassProfile& profile) {
  std::map<std::string_view, OpcodeCount> opcodes;
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    const bool loads = producer != nullptr && std::ranges::binary_search(producer->blocks, b);
    for (const Instruction& instruction : instructions_of(function, flow.blocks[b])) {
      const OpcodeClass which = class_of(instruction);
      add(profile.all, places[b], loads);
      add(profile.classes.at(static_cast<std::size_t>(which)), places[b], loads);
      OpcodeCount& opcode = opcodes[instruction.mnemonic];
      opcode.mnemonic = instruction.mnemonic;
      opcode.which = which;
      add(opcode.count, places[b], loads);
    }
  }
  profile.opcodes = sorted(opcodes);
}

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

auto heat(const LineCount& count) {
  return std::tuple(count.own.main_loop, count.with_inlined.main_loop, count.own.total,
                    count.with_inlined.total);
}

std::vector<LineCount> hottest_first(const std::map<SourceLine, LineCount>& counts) {
  auto lines = mapped(counts, [](const auto& count) { return count.second; });
  std::ranges::stable_sort(lines, std::ranges::greater(), heat);
  return lines;
}

/// Removes repeated lines. A recursive function may be inlined into itself.
SourceChain distinct(SourceChain chain) {
  sort_unique(chain);
  return chain;
}

}  // namespace

void add(SassCount& count, LoopPlace place, bool in_producer_loop) {
  ++count.total;
  count.producer_loop += in_producer_loop ? 1 : 0;
  count.main_loop += place != LoopPlace::outside ? 1 : 0;
  count.conditional += place == LoopPlace::conditional ? 1 : 0;
}

SassProfile profile_function(const Listing& listing, const SassFunction& function) {
  const ControlFlow flow = control_flow(function);
  const LoopForest forest = find_loops(flow);
  const std::optional<std::size_t> main = main_loop(function, flow, forest);
  const std::optional<std::size_t> producer = producer_loop(function, flow, forest, main);
  SassProfile profile;
  profile.function = function.name;
  profile.target = listing.target;
  profile.registers = function.registers;
  profile.loops = static_cast<std::int64_t>(forest.loops.size());
  profile.irreducible_edges = static_cast<std::int64_t>(forest.irreducible_edges);
  const auto loop_at = [&](std::optional<std::size_t> index) {
    return index ? &forest.loops[*index] : nullptr;
  };
  count_instructions(function, flow, block_places(flow, loop_at(main)), loop_at(producer), profile);
  if (main) {
    profile.main_loop = describe_loop(function, flow, forest, *main);
  }
  if (producer) {
    const Loop& loop = forest.loops[*producer];
    const auto [first, last] = addresses_of(function, flow, loop);
    profile.producer_loop = {first, last, loop.depth,
                             static_cast<std::int64_t>(count_bulk_loads(function, flow, loop))};
  }
  return profile;
}

std::vector<std::string> unknown_opcodes(const SassProfile& profile) {
  std::vector<std::string> names = mapped(
      filtered(profile.opcodes,
               [](const OpcodeCount& opcode) { return opcode.which == OpcodeClass::unknown; }),
      [](const OpcodeCount& opcode) {
        return opcode.mnemonic.substr(0, opcode.mnemonic.find('.'));
      });
  sort_unique(names);
  return names;
}

std::vector<CountChange> class_changes(const SassProfile& a, const SassProfile& b) {
  return greatest_first(mapped(opcode_classes(), [&](const OpcodeClassText& text) {
    return change(std::string(text.name), a.of(text.which), b.of(text.which));
  }));
}

std::vector<CountChange> opcode_changes(const SassProfile& a, const SassProfile& b) {
  std::map<std::string, std::pair<SassCount, SassCount>> counts;
  for (const OpcodeCount& opcode : a.opcodes) {
    counts[opcode.mnemonic].first = opcode.count;
  }
  for (const OpcodeCount& opcode : b.opcodes) {
    counts[opcode.mnemonic].second = opcode.count;
  }
  return greatest_first(mapped(counts, [](const auto& one) {
    return change(one.first, one.second.first, one.second.second);
  }));
}

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
  counts.lines = hottest_first(lines);
  return counts;
}

}  // namespace fatune
