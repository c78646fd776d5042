#include "inspect/sass/listing_text.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <dtl/dtl.hpp>

#include "base/error.hpp"
#include "inspect/sass/loops.hpp"

namespace fatune {
namespace {

std::string quoted(const std::string& text) {
  return '"' +
         joined(text, "",
                [](char c) {
                  return c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
                }) +
         '"';
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
  for (const Instruction& instruction : instructions_of(function, block)) {
    ++counts.at(static_cast<std::size_t>(class_of(instruction)));
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

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "R" for "R104"; empty if the word is not a numbered register.
std::string_view bank_of(std::string_view word) {
  constexpr std::array<std::string_view, 5> kBanks{"UR", "UP", "R", "P", "B"};
  for (const std::string_view bank : kBanks) {
    if (word.starts_with(bank) && word.size() > bank.size() &&
        word.find_first_not_of("0123456789", bank.size()) == std::string_view::npos) {
      return bank;
    }
  }
  return {};
}

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part)) {
    text.erase(at, part.size());
  }
  return text;
}

class Renamer {
 public:
  explicit Renamer(const SassFunction& function) : function_(function) {
    for (const Instruction& instruction : function.instructions) {
      jumped_to_.insert(instruction.targets.begin(), instruction.targets.end());
    }
  }

  std::vector<NormalLine> lines() {
    std::vector<NormalLine> lines;
    for (const Instruction& instruction : function_.instructions) {
      numbered_ = true;
      for (const std::string& label : instruction.labels) {
        if (jumped_to_.contains(label)) {
          lines.push_back({number(label, "L") + ":", "L:"});
        }
      }
      lines.push_back({line(instruction, true), line(instruction, false)});
    }
    return lines;
  }

 private:
  std::string line(const Instruction& instruction, bool numbered) {
    numbered_ = numbered;
    std::string text;
    if (!instruction.guard.empty()) {
      text = "@" + renamed(instruction.guard) + " ";
    }
    const std::string operands = joined(instruction.operands, ", ", [&](const auto& operand) {
      return renamed(without(operand, ".reuse"));
    });
    return text + instruction.mnemonic + (instruction.operands.empty() ? "" : " ") + operands;
  }

  /// Renames every register of an operand, and the label or function that it names.
  std::string renamed(const std::string& operand) {
    if (const std::size_t at = operand.find("`("); at != std::string::npos) {
      const std::size_t end = operand.find(')', at);
      const std::string target = operand.substr(at + 2, end - at - 2);
      return target == function_.name   ? "`(self)"
             : target.starts_with(".L") ? "`(" + number(target, "L") + ")"
                                        : "`(" + without(target, function_.name) + ")";
    }
    std::string text;
    for (std::size_t i = 0; i < operand.size();) {
      std::size_t end = i;
      while (end < operand.size() && is_word(operand[end])) {
        ++end;
      }
      const std::string word = operand.substr(i, end - i);
      const std::string_view bank = bank_of(word);
      text += bank.empty() ? word : number(word, std::string(bank));
      if (end < operand.size()) {
        text += operand[end++];
      }
      i = end;
    }
    return text;
  }

  std::string number(const std::string& name, const std::string& bank) {
    if (!numbered_) {
      return bank;
    }
    const auto [found, added] = names_.emplace(name, std::string());
    if (added) {
      found->second = fmt::format("{}{}", bank, counts_[bank]++);
    }
    return found->second;
  }

  const SassFunction& function_;
  bool numbered_ = true;
  std::set<std::string> jumped_to_;
  std::map<std::string, std::string> names_;
  std::map<std::string, int> counts_;
};

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

std::vector<NormalLine> normal_form(const SassFunction& function) {
  return Renamer(function).lines();
}

std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  constexpr std::size_t kMostSteps = std::size_t{4} << 30;
  if (!a.empty() && b.size() > kMostSteps / a.size()) {
    throw Error(ExitCode::bad_file,
                fmt::format("{} and {} lines are too many to compare", a.size(), b.size()));
  }
  dtl::Diff<std::string> diff(a, b, true);
  diff.compose();
  std::vector<DiffLine> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  // dtl's own indices begin anew where it begins anew, so they are counted here.
  for (const auto& [text, change] : diff.getSes().getSequence()) {
    const bool added = change.type == dtl::SES_ADD;
    const bool deleted = change.type == dtl::SES_DELETE;
    lines.push_back({added ? '+' : deleted ? '-' : ' ', added ? j : i});
    i += added ? 0U : 1U;
    j += deleted ? 0U : 1U;
  }
  return lines;
}

}  // namespace fatune
