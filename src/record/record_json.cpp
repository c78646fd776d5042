#include "record/record_json.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/kernel_time.hpp"
#include "record/members.hpp"

namespace fatune {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ExitCode::bad_file, "a record cannot be read: " + what);
}

void require(bool holds, const char* otherwise) {
  if (!holds) {
    refuse(otherwise);
  }
}

struct IgnoreMember {
  template <typename Member>
  void operator()(std::string_view, Member&, Later = {}) const {}
};

template <typename Value>
concept HasMembers = requires(Value& value) {
  visit_members(value, IgnoreMember{});
};

// --- Writing ---

Json to_record(bool value) { return value; }
template <std::integral Integer>
Json to_record(Integer value) {
  return value;
}
Json to_record(const std::string& value) { return value; }
Json to_record(DType value) { return dtype_name(value); }
Json to_record(const SourceHashes& value) { return value; }
Json to_record(Arch value) { return arch_name(value); }
Json to_record(Strategy value) { return strategy_name(value); }
Json to_record(StopReason value) { return stop_reason_name(value); }
Json to_record(EstimateSource value) { return estimate_source_name(value); }

Json to_record(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json to_record(const ProblemDetails<const Problem>& details) {
  Json object = Json::object();
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, details.problem)) {
      std::visit([&](const auto& value) { object[detail.name] = value; },
                 detail_value(detail, details.problem));
    }
  }
  return object;
}

template <HasMembers Struct>
Json to_record(const Struct& value);
Json to_record(const Outcome& outcome);

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

template <HasMembers Struct>
Json to_record(const Struct& value) {
  Json object = Json::object();
  visit_members(value, [&](std::string_view name, const auto& member, auto...) {
    object[std::string(name)] = to_record(member);
  });
  return object;
}

Json to_record(const Outcome& outcome) {
  Json object = std::visit([](const auto& alternative) { return to_record(alternative); }, outcome);
  object["outcome"] = outcome_name(outcome);
  return object;
}

// --- Reading ---

void read(const Json& json, bool& value) {
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

void read(const Json& json, std::string& value) {
  require(json.is_string(), "not a string");
  value = json.get<std::string>();
}

void read(const Json& json, SourceHashes& value) {
  require(json.is_object(), "hashes is not an object");
  for (const auto& [family, hash] : json.items()) {
    read(hash, value[family]);
  }
}

void read(const Json& json, double& value) {
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

void read(const Json& json, DType& value) { read_by(json, value, parse_dtype); }
void read(const Json& json, Arch& value) { read_by(json, value, parse_arch); }
void read(const Json& json, Strategy& value) { read_by(json, value, parse_strategy); }
void read(const Json& json, StopReason& value) { read_by(json, value, parse_stop_reason); }
void read(const Json& json, EstimateSource& value) { read_by(json, value, parse_estimate_source); }

DetailValue read_detail(const Json& json) {
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

void read(const Json& json, ProblemDetails<Problem>& details) {
  for (const ProblemDetail& detail : kProblemDetails) {
    const auto found = json.find(detail.name);
    if (found == json.end()) {
      continue;
    }
    try {
      set_detail(detail, details.problem, read_detail(*found));
    } catch (const Error& error) {
      refuse(error.what_was_wrong());
    }
  }
}

template <HasMembers Struct>
void read(const Json& json, Struct& value);
void read(const Json& json, Outcome& outcome);

template <typename Value>
void read(const Json& json, std::optional<Value>& value) {
  value.reset();
  if (!json.is_null()) {
    read(json, value.emplace());
  }
}

template <typename Item>
void read(const Json& json, std::vector<Item>& items) {
  require(json.is_array(), "not a list");
  items.clear();
  for (const Json& item : json) {
    read(item, items.emplace_back());
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

template <typename Member>
void read_member(const Json& object, const std::string& name, Member& member) {
  const auto found = object.find(name);
  if (found == object.end()) {
    refuse(fmt::format("'{}' is missing", name));
  }
  try {
    read(*found, member);
  } catch (const Error& error) {
    throw Error(error.code(), error.what_was_wrong(),
                error.where().empty() ? name : name + "." + error.where());
  }
}

template <HasMembers Struct>
void read(const Json& json, Struct& value) {
  require(json.is_object(), "not an object");
  visit_members(value, [&](std::string_view name, auto& member, auto... later) {
    if (sizeof...(later) == 0 || json.contains(name)) {
      read_member(json, std::string(name), member);
    }
  });
}

template <std::size_t kIndex = 0>
void read_alternative(const Json& json, const std::string& name, Outcome& outcome) {
  if constexpr (kIndex == std::variant_size_v<Outcome>) {
    refuse(fmt::format("there is no outcome '{}'", name));
  } else {
    std::variant_alternative_t<kIndex, Outcome> alternative;
    if (outcome_name(alternative) == name) {
      read(json, alternative);
      outcome = std::move(alternative);
    } else {
      read_alternative<kIndex + 1>(json, name, outcome);
    }
  }
}

void read(const Json& json, Outcome& outcome) {
  require(json.is_object(), "not an object");
  std::string name;
  read_member(json, "outcome", name);
  read_alternative(json, name, outcome);
  check_kernel_times(outcome);
}

}  // namespace

template <typename Value>
nlohmann::json record_json(const Value& value) {
  return to_record(value);
}

template <typename Value>
Value read_record(const nlohmann::json& json) {
  Value value;
  read(json, value);
  return value;
}

#define FATUNE_RECORD(Value)                         \
  template nlohmann::json record_json(const Value&); \
  template Value read_record<Value>(const nlohmann::json&);

FATUNE_RECORD(Outcome)
FATUNE_RECORD(Timing)
FATUNE_RECORD(Verification)
FATUNE_RECORD(ErrorStats)
FATUNE_RECORD(Problem)
FATUNE_RECORD(Config)
FATUNE_RECORD(DeviceLimits)
FATUNE_RECORD(MeasurePolicy)
FATUNE_RECORD(MeasuringSummary)
FATUNE_RECORD(GpuReading)
FATUNE_RECORD(GpuConditions)
FATUNE_RECORD(MatmulRate)
FATUNE_RECORD(RuleAudit)
FATUNE_RECORD(Toolchain)
FATUNE_RECORD(LaunchGeometry)
FATUNE_RECORD(std::optional<Problem>)
FATUNE_RECORD(std::optional<Verification>)
FATUNE_RECORD(std::optional<LaunchGeometry>)
FATUNE_RECORD(std::optional<GpuReading>)
FATUNE_RECORD(std::optional<DumpExtents>)
FATUNE_RECORD(CountedWork)
FATUNE_RECORD(ResourceFacts)
FATUNE_RECORD(Result)
FATUNE_RECORD(ProblemReport)
FATUNE_RECORD(RunReport)
#undef FATUNE_RECORD

std::string record_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json parse_record(std::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) {
    refuse("it is not JSON");
  }
  return json;
}

}  // namespace fatune
