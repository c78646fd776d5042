#include "model/record_json.hpp"

#include <array>
#include <optional>
#include <utility>

#include "model/members.hpp"
#include "model/record_reader.hpp"
#include "model/record_writer.hpp"

namespace fatune {

template <typename Value>
RecordJson record_json(const Value& value) {
  return record_writer::to_record(value);
}

RecordJson parameters_json(const std::vector<NamedValue>& parameters) {
  return record_writer::object_record(parameters);
}

std::string record_text(const RecordJson& json) {
  return json.dump(-1, ' ', false, RecordJson::error_handler_t::replace);
}

template <typename Value>
Value read_record(const RecordJson& json) {
  Value value;
  record_reader::read(json, value);
  return value;
}

RecordJson parse_record(std::string_view text) {
  std::vector<std::size_t> members;  // of each object that has not ended
  const auto limit = [&](int, RecordJson::parse_event_t event, const RecordJson&) {
    if (event == RecordJson::parse_event_t::object_start) {
      members.push_back(0);
    } else if (event == RecordJson::parse_event_t::object_end) {
      members.pop_back();
    } else if (event == RecordJson::parse_event_t::key && ++members.back() > kMostRecordMembers) {
      record_reader::refuse(fmt::format("an object has more than {} members", kMostRecordMembers));
    }
    return true;
  };
  RecordJson json = RecordJson::parse(text.begin(), text.end(), limit, false);
  if (json.is_discarded()) {
    record_reader::refuse("it is not JSON");
  }
  return json;
}

namespace {

using Type = RecordMember::Type;

template <typename Value>
struct TypeOf {
  static constexpr Type kType = std::is_same_v<Value, bool>       ? Type::boolean
                                : std::is_integral_v<Value>       ? Type::integer
                                : std::is_floating_point_v<Value> ? Type::number
                                : HasMembers<Value>               ? Type::object
                                                                  : Type::text;
};
template <typename Value>
struct TypeOf<std::optional<Value>> : TypeOf<Value> {};
template <typename Item>
struct TypeOf<std::vector<Item>> {
  static constexpr Type kType = Type::list;
};
template <>
struct TypeOf<SourceHashes> {
  static constexpr Type kType = Type::object;
};

using Members = std::vector<RecordMember>;

void list_flat(const ProblemDetails<const Problem>&, Members& list) {
  constexpr std::array kTypes{Type::integer, Type::number, Type::boolean, Type::text,
                              Type::text,    Type::text,   Type::text};
  for (const ProblemDetail& detail : kProblemDetails) {
    list.push_back({{detail.name, detail.doc}, kTypes.at(static_cast<std::size_t>(detail.kind))});
  }
}
template <HasMembers Struct>
void list_flat(const Struct& value, Members& list);
template <HasMembers Struct>
void list_flat(const std::optional<Struct>&, Members& list) {
  const std::size_t first = list.size();
  list_flat(Struct{}, list);
  for (std::size_t i = first; i < list.size(); ++i) {
    list[i].info.or_null = true;
  }
}

template <std::size_t... kIndex>
void list_alternatives(std::index_sequence<kIndex...>, Members& list) {
  (list_flat(std::variant_alternative_t<kIndex, Outcome>{}, list), ...);
}
void list_flat(const Outcome&, Members& list) {
  list.push_back(
      {{"outcome", "how the configuration ended: measured, estimated, wrong_result, ..."},
       Type::text});
  const std::size_t first = list.size();
  list_alternatives(std::make_index_sequence<std::variant_size_v<Outcome>>{}, list);
  for (std::size_t i = first; i < list.size(); ++i) {
    list[i].of_alternative = true;
  }
}

template <HasMembers Struct>
void list_flat(const Struct& value, Members& list) {
  visit_members(value, [&]<typename Info, typename Member>(const Info& info, const Member& member) {
    if constexpr (kIsFlat<Info>) {
      list_flat(member, list);
    } else {
      list.push_back({info, kIsNamed<Info> ? Type::object : TypeOf<Member>::kType});
      list.back().info.or_null = info.or_null || (IsOptional<Member>::value && !info.if_any);
    }
  });
}

}  // namespace

template <typename Value>
std::vector<RecordMember> record_members() {
  Members list;
  list_flat(Value{}, list);
  return list;
}

/// Makes the functions for a type that has records.
#define FATUNE_RECORD(Value)                            \
  template RecordJson record_json(const Value&);        \
  template Value read_record<Value>(const RecordJson&); \
  template std::vector<RecordMember> record_members<Value>();
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
FATUNE_RECORD(MemoryRate)
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
FATUNE_RECORD(RivalCheck)
FATUNE_RECORD(GateReport)
FATUNE_RECORD(RunReport)
FATUNE_RECORD(Shard)
FATUNE_RECORD(RowMismatches)
FATUNE_RECORD(EstimateTerm)
FATUNE_RECORD(AssemblerNote)
FATUNE_RECORD(MedianInterval)
FATUNE_RECORD(PlacedProblem)
#undef FATUNE_RECORD

}  // namespace fatune
