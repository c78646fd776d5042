#include "sass/normal_form.hpp"

#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <dtl/dtl.hpp>

#include "core/error.hpp"

namespace fatune {
namespace {

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
    text += instruction.mnemonic;
    const char* separator = " ";
    for (const std::string& operand : instruction.operands) {
      text += separator + renamed(without(operand, ".reuse"));
      separator = ", ";
    }
    return text;
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
