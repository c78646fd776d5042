#pragma once

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/members.hpp"
#include "model/outcome.hpp"
#include "model/record_json.hpp"

// How read_record() reads a value. Rooms include this for their own structs.
namespace fatune::record_reader {

using Json = RecordJson;

[[noreturn]] inline void refuse(const std::string& what) { throw Error(ExitCode::bad_file, what); }

inline void require(bool holds, const char* otherwise) {
  if (!holds) {
    refuse(otherwise);
  }
}

inline void read(const Json& json, bool& value) {
  require(json.is_boolean(), "neither true nor false");
  value = json.get<bool>();
}

template <std::integral Integer>
void read(const Json& json, Integer& value) {
  require(json.is_number_integer(), "not an integer");
  const bool fits = json.is_number_unsigned() ? std::in_range<Integer>(json.get<std::uint64_t>())
                                              : std::in_range<Integer>(json.get<std::int64_t>());
  require(fits, "an integer out of range");
  value = json.get<Integer>();
}

inline void read(const Json& json, std::string& value) {
  require(json.is_string(), "not a string");
  value = json.get<std::string>();
}

inline void read(const Json& json, double& value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (json.is_number()) {
    value = json.get<double>();
  } else if (json == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (json == "inf" || json == "-inf") {
    value = json == "inf" ? kInfinity : -kInfinity;
  } else {
    refuse("not a number");
  }
}

template <typename Parsed, typename Parse>
void read_by(const Json& json, Parsed& value, Parse parse) {
  std::string text;
  read(json, text);
  try {
    value = parse(text);
  } catch (const Error& error) {
    refuse(error.what_was_wrong());
  }
}

inline void read(const Json& json, DType& value) { read_by(json, value, parse_dtype); }
inline void read(const Json& json, Arch& value) { read_by(json, value, parse_arch); }
template <NamedEnum Enum>
void read(const Json& json, Enum& value) {
  read_by(json, value, [](const std::string& text) { return parse_enum<Enum>(text); });
}

inline void read(const Json& json, NamedValue& parameter) {
  require(json.is_primitive() && !json.is_null(), "not a value");
  parameter.text = json.is_string() ? json.get<std::string>() : json.dump();
}
inline void read(const Json& json, CounterValue& counter) { read(json, counter.value); }

inline DetailValue read_detail(const Json& json) {
  if (json.is_boolean()) {
    return json.get<bool>();
  }
  if (json.is_string()) {
    return json.get<std::string>();
  }
  if (json.is_number_integer() && !json.is_number_unsigned()) {
    return json.get<std::int64_t>();
  }
  require(json.is_number(), "neither a number nor text");
  return json.get<double>();
}

template <HasMembers Struct>
void read(const Json& json, Struct& value);
inline void read(const Json& json, Outcome& outcome);
template <typename Item>
void read(const Json& json, std::vector<Item>& items);
template <typename Item, std::size_t kCount>
void read(const Json& json, std::array<Item, kCount>& items);
template <typename Value>
void read(const Json& json, std::map<std::string, Value>& values);

template <typename Value>
void read(const Json& json, std::optional<Value>& value) {
  value.reset();
  if (!json.is_null()) {
    read(json, value.emplace());
  }
}

/// Reads a part of a value. Errors name its place in the whole.
template <typename Read>
void read_at(const std::string& name, Read read_it) {
  try {
    read_it();
  } catch (const Error& error) {
    throw Error(error.code(), error.what_was_wrong(),
                error.where().empty() ? name : name + "." + error.where());
  }
}
template <typename Part>
void read_part(const Json& json, const std::string& name, Part& part) {
  read_at(name, [&] { read(json, part); });
}

template <typename Item>
void read(const Json& json, std::vector<Item>& items) {
  require(json.is_array(), "not a list");
  items.clear();
  items.reserve(json.size());
  for (const Json& item : json) {
    read_part(item, std::to_string(items.size()), items.emplace_back());
  }
}

template <typename Item, std::size_t kCount>
void read(const Json& json, std::array<Item, kCount>& items) {
  require(json.is_array(), "not a list");
  if (json.size() != kCount) {
    refuse(fmt::format("a list of {} items, not of {}", json.size(), kCount));
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    read(json[i], items[i]);
  }
}

template <typename Value>
void read(const Json& json, std::map<std::string, Value>& values) {
  require(json.is_object(), "not an object");
  values.clear();
  for (const auto& [name, value] : json.items()) {
    read_part(value, name, values[name]);
  }
}

/// Finds the members of an object, which mostly come in the order in which they are asked for.
class MemberFinder {
 public:
  explicit MemberFinder(const Json& object) : object_(object), next_(object.begin()) {
    require(object.is_object(), "not an object");
  }

  /// Returns null if there is no such member.
  const Json* find(std::string_view name) {
    if (next_ == object_.end() || next_.key() != name) {
      next_ = object_.find(name);
    }
    return next_ == object_.end() ? nullptr : &*next_++;
  }
  const Json& at(const std::string& name) {
    const Json* const found = find(name);
    if (found == nullptr) {
      throw Error(ExitCode::bad_file, "is missing", name);
    }
    return *found;
  }

 private:
  const Json& object_;
  Json::const_iterator next_;
};

template <HasMembers Struct>
void read_members(MemberFinder& object, Struct& value);

template <std::size_t kIndex = 0>
void read_alternative(MemberFinder& object, const std::string& name, Outcome& outcome) {
  if constexpr (kIndex == std::variant_size_v<Outcome>) {
    throw Error(ExitCode::bad_file, fmt::format("there is no outcome '{}'", name), "outcome");
  } else {
    std::variant_alternative_t<kIndex, Outcome> alternative;
    if (outcome_name(alternative) == name) {
      read_members(object, alternative);
      outcome = std::move(alternative);
    } else {
      read_alternative<kIndex + 1>(object, name, outcome);
    }
  }
}

inline void read_flat(MemberFinder& object, Outcome& outcome) {
  std::string name;
  read_part(object.at("outcome"), "outcome", name);
  read_alternative(object, name, outcome);
  check_kernel_times(outcome);
}
template <HasMembers Struct>
void read_flat(MemberFinder& object, Struct& value) {
  read_members(object, value);
}
/// There is a value unless all members are null.
template <HasMembers Struct>
void read_flat(MemberFinder& object, std::optional<Struct>& value) {
  bool any = false;
  const Struct names{};
  visit_members(names, [&](const MemberInfo& info, const auto&) {
    any = !object.at(std::string(info.name)).is_null() || any;
  });
  value.reset();
  if (any) {
    read_members(object, value.emplace());
  }
}
inline void read_flat(MemberFinder& object, const ProblemDetails<Problem>& details) {
  for (const ProblemDetail& detail : kProblemDetails) {
    const std::string name(detail.name);
    if (const Json* const found = object.find(name)) {
      try {
        set_detail(detail, details.problem, read_detail(*found));
      } catch (const Error& error) {
        throw Error(ExitCode::bad_file, error.what_was_wrong(), name);
      }
    }
  }
}

template <typename Item>
void read_named(const Json& json, std::vector<Item>& items) {
  require(json.is_object(), "not an object");
  items.clear();
  for (const auto& [name, value] : json.items()) {
    Item& item = items.emplace_back();
    item.name = name;
    read_part(value, name, item);
  }
}

/// A member that may be null may also be missing.
template <typename Info, typename Member>
void read_member(MemberFinder& object, const Info& info, Member& member) {
  const std::string name(info.name);
  const bool may_be_null = info.or_null || IsOptional<Member>::value;
  const Json* const found = may_be_null ? object.find(name) : &object.at(name);
  if (may_be_null && (found == nullptr || found->is_null())) {
    member = Member{};
    return;
  }
  if constexpr (kIsNamed<Info>) {
    read_at(name, [&] { read_named(*found, member); });
  } else {
    read_part(*found, name, member);
  }
}

template <HasMembers Struct>
void read_members(MemberFinder& object, Struct& value) {
  visit_members(value, [&]<typename Info>(const Info& info, auto& member) {
    if constexpr (kIsElsewhere<Info>) {
      return;
    } else if constexpr (kIsFlat<Info>) {
      read_flat(object, member);
    } else {
      read_member(object, info, member);
    }
  });
}

template <HasMembers Struct>
void read(const Json& json, Struct& value) {
  MemberFinder object(json);
  read_members(object, value);
}

inline void read(const Json& json, Outcome& outcome) {
  MemberFinder object(json);
  read_flat(object, outcome);
}

}  // namespace fatune::record_reader
