#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/members.hpp"
#include "model/config.hpp"

// Structs as JSON that can be read back without loss, from the lists of their members
// (base/members.hpp): for result files, the store and the worker's messages.
//
// An object has a member for each member of the struct, under its name and in their order.
// Enumerations are written as their names, an architecture as "sm_90a", numbers that are not finite
// as "nan", "inf" and "-inf". The members of an Outcome follow the member "outcome", which names
// its alternative (outcome_name()).
namespace fatune {

using RecordJson = nlohmann::ordered_json;

/// For the structs of a report and their parts, LaunchGeometry, CountedWork, and an optional
/// Problem, Verification, LaunchGeometry, GpuReading and DumpExtents, which are null without a
/// value.
template <typename Value>
[[nodiscard]] RecordJson record_json(const Value& value);

/// Reads the value back. Unknown members are ignored; members that may be null may also be missing.
/// Throws Error(bad_file), which names the member, if another one is missing, or a member has
/// another type or a value that does not fit, or an outcome has a time that no kernel takes.
template <typename Value>
[[nodiscard]] Value read_record(const RecordJson& json);

/// Parameters as they stand in records: an object with a member for each.
[[nodiscard]] RecordJson parameters_json(const std::vector<NamedValue>& parameters);

/// The members of a value of this type, with what users are told about each: the members of flat
/// members in their place, and of all alternatives of an outcome.
struct RecordMember {
  MemberInfo info;
  enum class Type { boolean, integer, number, text, list, object } type;
  bool of_alternative = false;  ///< only one of an outcome's alternatives has it
};
template <typename Value>
[[nodiscard]] std::vector<RecordMember> record_members();
/// The most members of an object that is read. Records keep the members' order, so each new member
/// is compared with all others of its object.
inline constexpr std::size_t kMostRecordMembers = 10'000;

/// One line of JSON. Bytes that are not UTF-8 (a compiler's log may hold any) become U+FFFD.
[[nodiscard]] std::string record_text(const RecordJson& json);
/// Throws Error(bad_file) if `text` is not JSON, or an object has too many members.
[[nodiscard]] RecordJson parse_record(std::string_view text);

}  // namespace fatune
