#include "sass/listing_text.hpp"

#include <algorithm>
#include <array>
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

std::string instruction_text(const Instruction& instruction) {
  const std::string guard = instruction.guard.empty() ? "" : "@" + instruction.guard;
  return fmt::format("    {:>5} {}{}{};\n", guard, instruction.mnemonic,
                     instruction.operands.empty() ? "" : " ",
                     fmt::join(instruction.operands, ", "));
}

/// "tensor 16, shared 3": the classes of a block.
std::string classes_text(const SassFunction& function, const BasicBlock& block) {
  std::array<int, kOpcodeClasses> counts{};
  for (std::size_t i = block.first; i < block.end; ++i) {
    ++counts.at(static_cast<std::size_t>(class_of(function.instructions[i])));
  }
  std::string text;
  for (const OpcodeClassText& one : opcode_classes()) {
    const int count = counts.at(static_cast<std::size_t>(one.which));
    if (count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.name, count);
    }
  }
  return text;
}

std::string node_text(const SassFunction& function, const ControlFlow& flow, std::size_t index,
                      bool in_main_loop) {
  const BasicBlock& block = flow.blocks[index];
  return fmt::format("  b{} [label=\"{:#06x}-{:#06x}\\n{} instructions\\n{}\"{}];\n", index,
                     function.instructions[block.first].address,
                     function.instructions[block.end - 1].address, block.end - block.first,
                     classes_text(function, block),
                     in_main_loop ? ", style=filled, fillcolor=lightgrey" : "");
}

}  // namespace

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
    text += instruction_text(instruction);
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
    const bool inside = main && std::binary_search(forest.loops[*main].blocks.begin(),
                                                   forest.loops[*main].blocks.end(), b);
    text += node_text(function, flow, b, inside);
  }
  for (std::size_t b = 0; b < flow.blocks.size(); ++b) {
    for (const std::size_t to : flow.blocks[b].successors) {
      text += fmt::format("  b{} -> b{};\n", b, to);
    }
  }
  return text + "}\n";
}

}  // namespace fatune
