#include "sass/listing_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "sass/control_flow.hpp"
#include "sass/loops.hpp"
#include "sass/opcode_class.hpp"

namespace fatune {
namespace {

std::string quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  return '"' + safe + '"';
}

std::string operands_text(const Instruction& instruction) {
  return fmt::format("{}{}{}", instruction.mnemonic, instruction.operands.empty() ? "" : " ",
                     fmt::join(instruction.operands, ", "));
}

std::string guard_text(const Instruction& instruction) {
  return instruction.guard.empty() ? "" : "@" + instruction.guard;
}

std::array<std::int64_t, kOpcodeClasses> class_counts(const SassFunction& function,
                                                      const BasicBlock& block) {
  std::array<std::int64_t, kOpcodeClasses> counts{};
  for (std::size_t i = block.first; i < block.end; ++i) {
    ++counts.at(static_cast<std::size_t>(class_of(function.instructions[i])));
  }
  return counts;
}

/// The main loop is grey; blocks of other loops are lighter.
std::string fill_of(const LoopForest& forest, const std::optional<std::size_t>& main,
                    std::size_t block) {
  const bool inside = main && std::ranges::binary_search(forest.loops[*main].blocks, block);
  if (!inside && !forest.innermost[block]) {
    return "";
  }
  return fmt::format(", style=filled, fillcolor={}", inside ? "lightgrey" : "gray95");
}

std::string node_text(const SassFunction& function, const ControlFlow& flow, std::size_t index,
                      const std::string& fill) {
  const BasicBlock& block = flow.blocks[index];
  return fmt::format("  b{} [label=\"{:#06x}-{:#06x}\\n{} instructions\\n{}\"{}];\n", index,
                     function.instructions[block.first].address,
                     function.instructions[block.end - 1].address, block.end - block.first,
                     classes_text(class_counts(function, block)), fill);
}

}  // namespace

std::string classes_text(const std::array<std::int64_t, kOpcodeClasses>& counts) {
  std::string text;
  for (const OpcodeClassText& one : opcode_classes()) {
    const std::int64_t count = counts.at(static_cast<std::size_t>(one.which));
    if (count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.name, count);
    }
  }
  return text;
}

std::string instruction_text(const Instruction& instruction) {
  const std::string guard = guard_text(instruction);
  return guard + (guard.empty() ? "" : " ") + operands_text(instruction);
}

std::string clean_text(const SassFunction& function) {
  std::set<std::string> named;
  for (const Instruction& instruction : function.instructions) {
    named.insert(instruction.targets.begin(), instruction.targets.end());
  }
  std::string text = function.name + ":\n";
  for (const Instruction& instruction : function.instructions) {
    for (const std::string& label : instruction.labels) {
      text += named.contains(label) ? label + ":\n" : "";
    }
    text += fmt::format("    {:>5} {};\n", guard_text(instruction), operands_text(instruction));
  }
  return text;
}

std::string graph_text(const SassFunction& function) {
  const ControlFlow flow = control_flow(function);
  const LoopForest forest = find_loops(flow);
  const auto main = main_loop(function, flow, forest);
  std::string text = fmt::format("digraph {} {{\n  node [shape=box, fontname=monospace];\n",
                                 quoted(function.name));
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    text += node_text(function, flow, b, fill_of(forest, main, b));
  }
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    for (const std::size_t to : flow.blocks[b].successors) {
      text += fmt::format("  b{} -> b{}{};\n", b, to, flow.dominates(to, b) ? " [style=bold]" : "");
    }
  }
  return text + "}\n";
}

}  // namespace fatune
