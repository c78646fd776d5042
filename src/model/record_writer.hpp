#pragma once

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/members.hpp"
#include "model/record_json.hpp"

// How record_json() writes a value. Rooms include this for their own structs.
namespace fatune::record_writer {

using Json = RecordJson;

template <typename Member>
bool is_default(const Member& member) {
  if constexpr (requires { member.empty(); }) {
    return member.empty();
  } else if constexpr (std::is_arithmetic_v<Member> || std::is_enum_v<Member>) {
    return member == Member{};
  } else {
    return false;
  }
}

inline Json to_record(bool value) { return value; }
template <std::integral Integer>
Json to_record(Integer value) {
  return value;
}
inline Json to_record(const std::string& value) { return value; }
inline Json to_record(DType value) { return dtype_name(value); }
inline Json to_record(Arch value) { return arch_name(value); }
template <NamedEnum Enum>
Json to_record(Enum value) {
  return enum_name(value);
}

inline Json to_record(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

template <HasMembers Struct>
Json to_record(const Struct& value);
inline Json to_record(const Outcome& outcome);
template <typename Value>
Json to_record(const std::optional<Value>& value);
template <typename Item>
Json to_record(const std::vector<Item>& items);
template <typename Item, std::size_t kCount>
Json to_record(const std::array<Item, kCount>& items);
template <typename Value>
Json to_record(const std::map<std::string, Value>& values);

template <typename Value>
Json to_record(const std::optional<Value>& value) {
  return value ? to_record(*value) : Json();
}

template <typename Item>
Json list_record(const Item& items) {
  Json list = Json::array();
  for (const auto& item : items) {
    list.push_back(to_record(item));
  }
  return list;
}

template <typename Item>
Json to_record(const std::vector<Item>& items) {
  return list_record(items);
}
template <typename Item, std::size_t kCount>
Json to_record(const std::array<Item, kCount>& items) {
  return list_record(items);
}
template <typename Value>
Json to_record(const std::map<std::string, Value>& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) {
    object[name] = to_record(value);
  }
  return object;
}

inline Json named_record(const NamedValue& parameter) {
  // The value that the text stands for, if that is written in the same way: true, 128.
  Json value = Json::parse(parameter.text, nullptr, false);
  return (value.is_boolean() || value.is_number()) && value.dump() == parameter.text
             ? value
             : Json(parameter.text);
}
inline Json named_record(const CounterValue& counter) { return to_record(counter.value); }

template <typename Item>
Json object_record(const std::vector<Item>& items) {
  Json object = Json::object();
  for (const Item& item : items) {
    object[item.name] = named_record(item);
  }
  return object;
}

template <HasMembers Struct>
void add_members(const Struct& value, Json& object);

inline void add_flat(const Outcome& outcome, Json& object) {
  object["outcome"] = outcome_name(outcome);
  std::visit([&](const auto& alternative) { add_members(alternative, object); }, outcome);
}
template <HasMembers Struct>
void add_flat(const Struct& value, Json& object) {
  add_members(value, object);
}
/// Without a value, all members are null.
template <HasMembers Struct>
void add_flat(const std::optional<Struct>& value, Json& object) {
  if (value) {
    return add_members(*value, object);
  }
  const Struct absent{};
  visit_members(absent, [&](const MemberInfo& info, const auto&) {
    object[std::string(info.name)] = nullptr;
  });
}
inline void add_flat(const ProblemDetails<const Problem>& details, Json& object) {
  for (const ProblemDetail& detail : kProblemDetails) {
    std::visit([&](const auto& value) { object[std::string(detail.name)] = value; },
               detail_value(detail, details.problem));
  }
}

template <HasMembers Struct>
void add_members(const Struct& value, Json& object) {
  visit_members(value, [&]<typename Info>(const Info& info, const auto& member) {
    if constexpr (kIsElsewhere<Info>) {
      return;
    } else if constexpr (kIsFlat<Info>) {
      add_flat(member, object);
    } else if constexpr (kIsNamed<Info>) {
      object[std::string(info.name)] = object_record(member);
    } else if (Json json = info.or_null && is_default(member) ? Json() : to_record(member);
               !(info.if_any && json.is_null())) {
      object[std::string(info.name)] = std::move(json);
    }
  });
}

template <HasMembers Struct>
Json to_record(const Struct& value) {
  Json object = Json::object();
  add_members(value, object);
  return object;
}

inline Json to_record(const Outcome& outcome) {
  Json object = Json::object();
  add_flat(outcome, object);
  return object;
}

}  // namespace fatune::record_writer
