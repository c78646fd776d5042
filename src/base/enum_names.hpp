#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.hpp"

namespace fatune {

/// The names of an enum's values in outputs, in the order of the values, which begin at 0.
template <std::size_t kCount>
struct EnumNames {
  std::string_view what;  ///< what a value is, for messages: "stop reason"
  std::array<std::string_view, kCount> names;
};

/// An enum has names if it has a specialisation that is an EnumNames.
template <typename Enum>
inline constexpr std::nullptr_t kEnumNames = nullptr;

template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires {
  kEnumNames<Enum>.names;
};

template <NamedEnum Enum>
[[nodiscard]] constexpr std::string_view enum_name(Enum value) {
  return kEnumNames<Enum>.names.at(static_cast<std::size_t>(value));
}

/// The value of that name; nothing if there is none.
template <NamedEnum Enum>
[[nodiscard]] constexpr std::optional<Enum> find_enum(std::string_view name) {
  const auto& names = kEnumNames<Enum>.names;
  const auto found = std::ranges::find(names, name);
  return found == names.end() ? std::nullopt
                              : std::optional(static_cast<Enum>(found - names.begin()));
}

/// The value of that name. Throws Error(code) if there is none.
template <NamedEnum Enum>
[[nodiscard]] Enum parse_enum(std::string_view name, ExitCode code = ExitCode::bad_file,
                              const std::string& where = {}, const std::string& remedy = {}) {
  const auto value = find_enum<Enum>(name);
  if (!value) {
    throw Error(
        code, "there is no " + std::string(kEnumNames<Enum>.what) + " '" + std::string(name) + "'",
        where, remedy);
  }
  return *value;
}

}  // namespace fatune
