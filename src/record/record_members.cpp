#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "record/members.hpp"
#include "record/record_types.hpp"

namespace fatune {
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
  constexpr std::array kTypes{Type::integer, Type::number, Type::boolean, Type::text};
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
      list.back().info.or_null = info.or_null || IsOptional<Member>::value;
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

#define FATUNE_EXPLAINED(Value) template std::vector<RecordMember> record_members<Value>();
FATUNE_EXPLAINED(ErrorStats)
FATUNE_EXPLAINED(RowMismatches)
FATUNE_EXPLAINED(Verification)
FATUNE_EXPLAINED(EstimateTerm)
FATUNE_EXPLAINED(Problem)
FATUNE_EXPLAINED(DeviceLimits)
FATUNE_EXPLAINED(MeasurePolicy)
FATUNE_EXPLAINED(MeasuringSummary)
FATUNE_EXPLAINED(GpuReading)
FATUNE_EXPLAINED(GpuConditions)
FATUNE_EXPLAINED(MatmulRate)
FATUNE_EXPLAINED(RuleAudit)
FATUNE_EXPLAINED(Toolchain)
FATUNE_EXPLAINED(AssemblerNote)
FATUNE_EXPLAINED(MedianInterval)
FATUNE_EXPLAINED(PlacedProblem)
FATUNE_EXPLAINED(RivalCheck)
FATUNE_EXPLAINED(GateReport)
FATUNE_EXPLAINED(Shard)
FATUNE_EXPLAINED(Result)
FATUNE_EXPLAINED(ProblemReport)
FATUNE_EXPLAINED(RunReport)
#undef FATUNE_EXPLAINED

}  // namespace fatune
