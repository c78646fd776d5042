#include "emulator/ptx/scopes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text_parts.hpp"

namespace fatune {
namespace {

/// True for instructions whose operands are all inputs.
bool has_no_result(std::string_view opcode) {
  constexpr std::array<std::string_view, 9> kOpcodes{
      "bar.sync",     "bar.arrive", "bar.warp.sync", "barrier.sync", "barrier.arrive",
      "barrier.cta.", "brx.",       "nanosleep.",    "setmaxnreg."};
  return opcode.find(".red.") == std::string_view::npos &&
         std::ranges::any_of(kOpcodes,
                             [&](std::string_view begin) { return opcode.starts_with(begin); });
}

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";

/// "%r" for "%r67".
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of(kDigits);
  return name.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

std::vector<OperandEffect> operand_effects(std::string_view opcode,
                                           const std::vector<std::string>& operands) {
  std::vector<OperandEffect> effects(operands.size());
  if (!operands.empty() && !operands.front().starts_with('[') && !has_no_result(opcode)) {
    const bool accumulates = opcode.starts_with("wgmma.mma_async");  // it is added to, not set
    effects.front() = {true, accumulates};
  }
  return effects;
}

const PtxScopes::Declared* PtxScopes::declaration_of(const Scope& scope, std::string_view name) {
  if (const auto whole = scope.registers.find(name);
      whole != scope.registers.end() && !whole->second.is_prefix) {
    return &whole->second;
  }
  const std::string_view prefix = without_number(name);
  const auto family = scope.registers.find(prefix);
  const bool numbered = prefix.size() < name.size() && family != scope.registers.end();
  return numbered && family->second.is_prefix ? &family->second : nullptr;
}

void PtxScopes::declare_registers(std::string_view directive) {
  std::string_view type;
  do {
    type = take_until(directive, ' ');  // ".reg", ".v4", ".f32": names do not begin with a dot
    directive = trim(directive);
  } while (directive.starts_with('.'));
  type.remove_prefix(type.find_last_of('.') + 1);  // also for ".reg.b16"
  for (const std::string& name : split_operands(directive)) {
    const std::size_t number = name.find('<');
    scopes_.back().registers[std::string(trim(name.substr(0, number)))] = {
        number != std::string::npos, std::string(type)};
  }
}

std::optional<std::size_t> PtxScopes::look_up(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const Declared* const declared = declaration_of(*scope, name)) {
      const auto [found, is_new] = scope->used.try_emplace(std::string(name), names_.size());
      if (is_new) {
        names_.emplace_back(name);
        types_.push_back(declared->type);
      }
      return found->second;
    }
  }
  return std::nullopt;
}

std::vector<std::size_t> PtxScopes::find(std::string_view text) {
  std::vector<std::size_t> found;
  for (;;) {
    text.remove_prefix(std::min(text.size(), text.find_first_of(kNameCharacters)));
    if (text.empty()) {
      return found;
    }
    const std::string_view name = text.substr(0, text.find_first_not_of(kNameCharacters));
    if (const auto index = look_up(name)) {
      found.push_back(*index);
    }
    text.remove_prefix(name.size());
  }
}

void PtxScopes::declare_label(const std::string& label) {
  if (!scopes_.empty()) {
    scopes_.back().labels.push_back(label);
  }
}

void PtxScopes::declare_list(const std::string& name) {
  Scope& scope = scopes_.back();
  std::erase(scope.labels, name);
  scope.lists.push_back(name);
}

void PtxScopes::close(PtxFunction& function, std::vector<std::string>& pending) {
  const Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  if (scopes_.empty()) {
    return;
  }
  for (const std::string& label : scope.labels) {
    const std::string name = fmt::format("{}$scope{}", label, ++renamed_);
    rename(scope, label, name, function);
    std::ranges::replace(pending, label, name);
  }
}

void PtxScopes::rename(const Scope& scope, const std::string& from, const std::string& to,
                       PtxFunction& function) {
  for (std::size_t i = scope.first_statement; i < function.statements.size(); ++i) {
    PtxStatement& statement = function.statements[i];
    for (auto* const texts : {&statement.labels, &statement.operands, &statement.names}) {
      std::replace(texts->begin(), texts->end(), from, to);
    }
  }
  for (const std::string& list : scope.lists) {
    std::vector<std::string>& targets = function.branch_targets[list];
    std::ranges::replace(targets, from, to);
  }
}

}  // namespace fatune
