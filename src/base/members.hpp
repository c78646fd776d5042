#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "base/text_parts.hpp"

// Lists of structs' members, for code that writes, reads or explains each of them: JSON in and out,
// the JSON Schemas, the store and the worker's messages.
//
// FATUNE_MEMBERS(Struct, a, b) makes visit_members(value, visit), which calls
// visit(MemberInfo{"a"}, value.a) and visit(MemberInfo{"b"}, value.b). The list must have all
// members in order. A structured binding counts them, so a struct that gains a member does not
// compile until the list has it.
//
// FATUNE_DESCRIBED(Struct, (a, "what it is"), (b, kOrNull, "what it is")) also says what the
// members mean to users, and how they are written: member() has the possible arguments.
namespace fatune {

/// What a list says about a member.
struct MemberInfo {
  std::string_view name;   ///< key in JSON; with its unit
  std::string_view doc{};  ///< description in the JSON Schema; empty: users do not see the struct
  bool or_null = false;    ///< a value equal to the type's default is written as null
  bool if_any = false;     ///< an optional member that is not written without a value
};
/// A struct, optional struct or outcome whose members are written among those of the outer struct.
struct FlatMember : MemberInfo {};
/// A list of items with a name and a value, which is written as an object.
struct NamedMember : MemberInfo {};

/// A member that is not written with the others.
struct ElsewhereMember : MemberInfo {};

struct OrNull {};
struct IfAny {};
struct Flat {};
struct ByName {};
struct Elsewhere {};
struct Key {
  std::string_view name;
};
inline constexpr OrNull kOrNull;
inline constexpr IfAny kIfAny;
inline constexpr Flat kFlat;
inline constexpr ByName kByName;
inline constexpr Elsewhere kElsewhere;

// `name` is the member's own name, `key` its name in JSON if that is another one.
constexpr MemberInfo member_info(std::string_view name, std::string_view doc = {}) {
  return {name, doc};
}
constexpr MemberInfo member_info(std::string_view name, OrNull, std::string_view doc) {
  return {name, doc, true};
}
constexpr MemberInfo member_info(std::string_view name, IfAny, std::string_view doc) {
  return {name, doc, false, true};
}
constexpr FlatMember member_info(std::string_view name, Flat) { return {{name}}; }
constexpr ElsewhereMember member_info(std::string_view name, Elsewhere) { return {{name}}; }
constexpr NamedMember member_info(std::string_view name, ByName, std::string_view doc) {
  return {{name, doc}};
}
template <typename... Others>
constexpr auto member_info(std::string_view /*name*/, Key key, Others... others) {
  return member_info(key.name, others...);
}

template <typename Self, typename Struct>
concept Is = std::same_as<std::remove_const_t<Self>, Struct>;

/// Calls `visit` for each member with its name; `names` is "a, b".
template <typename Visit, typename... Members>
void visit_named(std::string_view names, const Visit& visit, Members&... members) {
  (visit(MemberInfo{trim(take_until(names, ','))}, members), ...);
}

}  // namespace fatune

#define FATUNE_MEMBERS(Struct, ...)                    \
  template <::fatune::Is<Struct> Self, typename Visit> \
  void visit_members(Self& self, const Visit& visit) { \
    auto& [__VA_ARGS__] = self;                        \
    visit_named(#__VA_ARGS__, visit, __VA_ARGS__);     \
  }

#define FATUNE_DESCRIBED(Struct, ...)                           \
  template <::fatune::Is<Struct> Self, typename Visit>          \
  void visit_members(Self& self, const Visit& visit) {          \
    auto& [FATUNE_EACH(FATUNE_COMMA_NAME, __VA_ARGS__)] = self; \
    FATUNE_VISIT_EACH(__VA_ARGS__)                              \
  }
/// Visits some members of a struct, which a structured binding has taken apart.
#define FATUNE_VISIT_EACH(...) FATUNE_EACH(FATUNE_VISIT, __VA_ARGS__)

// The preprocessor's loop over a list of up to 40 parenthesised items.
#define FATUNE_EXPAND(...) FATUNE_EXPAND3(FATUNE_EXPAND3(FATUNE_EXPAND3(__VA_ARGS__)))
#define FATUNE_EXPAND3(...) FATUNE_EXPAND2(FATUNE_EXPAND2(FATUNE_EXPAND2(__VA_ARGS__)))
#define FATUNE_EXPAND2(...) FATUNE_EXPAND1(FATUNE_EXPAND1(FATUNE_EXPAND1(__VA_ARGS__)))
#define FATUNE_EXPAND1(...) __VA_ARGS__
#define FATUNE_PARENTHESES ()
#define FATUNE_EACH(macro, ...) __VA_OPT__(FATUNE_EXPAND(FATUNE_NEXT(macro, __VA_ARGS__)))
#define FATUNE_NEXT(macro, item, ...) \
  macro(__VA_OPT__(1), item) __VA_OPT__(FATUNE_AGAIN FATUNE_PARENTHESES(macro, __VA_ARGS__))
#define FATUNE_AGAIN() FATUNE_NEXT
#define FATUNE_NAME(name, ...) name
#define FATUNE_COMMA_NAME(more, item) FATUNE_NAME item FATUNE_COMMA_IF_##more
#define FATUNE_COMMA_IF_1 ,
#define FATUNE_COMMA_IF_
#define FATUNE_INFO(name, ...) ::fatune::member_info(#name __VA_OPT__(, ) __VA_ARGS__)
#define FATUNE_VISIT(more, item) visit(FATUNE_INFO item, FATUNE_NAME item);
