#include "ptx/register_scopes.hpp"

#include <algorithm>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";

/// "%r" for "%r67".
std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of(kDigits);
  return name.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

const RegisterScopes::Declared* RegisterScopes::declaration_of(const Scope& scope,
                                                               std::string_view name) {
  if (const auto whole = scope.declared.find(name);
      whole != scope.declared.end() && !whole->second.is_prefix) {
    return &whole->second;
  }
  const std::string_view prefix = without_number(name);
  const auto family = scope.declared.find(prefix);
  const bool numbered = prefix.size() < name.size() && family != scope.declared.end();
  return numbered && family->second.is_prefix ? &family->second : nullptr;
}

void RegisterScopes::declare(std::string_view directive) {
  std::string_view type;
  do {
    type = take_until(directive, ' ');  // ".reg", ".v4", ".f32": names do not begin with a dot
    directive = trim(directive);
  } while (directive.starts_with('.'));
  type.remove_prefix(type.find_last_of('.') + 1);  // also for ".reg.b16"
  for (const std::string& name : split_operands(directive)) {
    const std::size_t number = name.find('<');
    scopes_.back().declared[std::string(trim(name.substr(0, number)))] = {
        number != std::string::npos, std::string(type)};
  }
}

std::optional<std::size_t> RegisterScopes::look_up(std::string_view name) {
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

std::vector<std::size_t> RegisterScopes::find(std::string_view text) {
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

}  // namespace fatune
