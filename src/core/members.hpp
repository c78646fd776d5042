#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "core/text_parts.hpp"

// Lists of structs' members, for code that writes or reads each of them.
// FATUNE_MEMBERS(Struct, a, b) makes visit_members(value, visit), which calls visit("a", value.a)
// and visit("b", value.b). The list must have all members in order. A structured binding counts
// them, so a struct that gains a member does not compile until the list has it.
//
// FATUNE_MEMBERS_AND_LATER(Struct, (a, b), c) marks c: visit("c", value.c, Later{}).
namespace fatune {

/// Marks a member that records of earlier versions lack: reading them leaves its default.
struct Later {};

template <typename Self, typename Struct>
concept Is = std::same_as<std::remove_const_t<Self>, Struct>;

/// Calls `visit` for each member with its name; `names` is "a, b".
template <typename Visit, typename... Members>
void visit_named(std::string_view names, const Visit& visit, Members&... members) {
  (visit(trim(take_until(names, ',')), members), ...);
}

}  // namespace fatune

/// Calls `visit` for some members of the struct, which a structured binding has taken apart.
#define FATUNE_VISIT(...) visit_named(#__VA_ARGS__, visit, __VA_ARGS__)
#define FATUNE_VISIT_LATER(...)                                                             \
  visit_named(                                                                              \
      #__VA_ARGS__,                                                                         \
      [&](std::string_view name, auto& member) { visit(name, member, ::fatune::Later{}); }, \
      __VA_ARGS__)
#define FATUNE_LIST(...) __VA_ARGS__

#define FATUNE_MEMBERS(Struct, ...)                    \
  template <::fatune::Is<Struct> Self, typename Visit> \
  void visit_members(Self& self, const Visit& visit) { \
    auto& [__VA_ARGS__] = self;                        \
    FATUNE_VISIT(__VA_ARGS__);                         \
  }

#define FATUNE_MEMBERS_AND_LATER(Struct, first, ...)   \
  template <::fatune::Is<Struct> Self, typename Visit> \
  void visit_members(Self& self, const Visit& visit) { \
    auto& [FATUNE_LIST first, __VA_ARGS__] = self;     \
    FATUNE_VISIT first;                                \
    FATUNE_VISIT_LATER(__VA_ARGS__);                   \
  }
