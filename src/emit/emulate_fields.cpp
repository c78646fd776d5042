#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/emulate_report.hpp"
#include "emit/error_fields.hpp"

namespace fatune {
namespace {

const EmulatedCounts& counts_of(const EmulatedPart& row) { return row.counts; }
const EmulatedCounts& counts_of(const EmulatedLine& row) { return row.own; }

template <std::int64_t EmulatedCounts::*kMember>
const auto count = [](const auto& row) {
  if constexpr (requires { row.profile; }) {
    return row.profile ? std::optional(row.profile->all.*kMember) : std::nullopt;
  } else {
    return counts_of(row).*kMember;
  }
};

/// The wavefronts that conflicts added, in percent of the ideal ones; nothing if there are none.
std::optional<double> conflict_percent(const EmulatedCounts& counts) {
  if (counts.ideal_wavefronts == 0) {
    return std::nullopt;
  }
  return 100.0 * static_cast<double>(counts.shared_wavefronts - counts.ideal_wavefronts) /
         static_cast<double>(counts.ideal_wavefronts);
}

template <typename Row>
Fields<Row> count_fields(FieldGetter<Row> conflicts) {
  using Counts = EmulatedCounts;
  return {
      {"warp_instructions", "warp instr", Look{.leaves = 6}, count<&Counts::warp_instructions>},
      {"thread_instructions", "thread instr", Look{.leaves = 10},
       count<&Counts::thread_instructions>},
      {"shared_wavefronts", "wavefronts", Look{.leaves = 5}, count<&Counts::shared_wavefronts>},
      {"ideal_wavefronts", "ideal", Look{.leaves = 1}, count<&Counts::ideal_wavefronts>},
      {"conflict_percent", "conflict %", Look{.decimals = 1, .leaves = 11}, conflicts},
      {"global_sectors", "sectors", Look{.leaves = 4}, count<&Counts::global_sectors>},
      {"bytes", "bytes", kProgramsOnly, count<&Counts::bytes>},
  };
}

Fields<EmulatedConfig> own_config_fields() {
  using Row = EmulatedConfig;
  return {
      {"problem", "problem", Look{.once = true}, [](const Row& r) { return describe(r.problem); }},
      {"config", "config", Look{.config = true}, &Row::config},
      {"outcome", "outcome", Look{.once = true},
       [](const Row& r) { return outcome_name(r.outcome); }},
      {"runs", "runs", kProgramsOnly, &Row::runs},
      {"findings_count", "findings", Look{.leaves = 9},
       [](const Row& r) { return r.findings.size(); }},
  };
}

std::string place_of(const FindingGroup& group) {
  return group.between ? fmt::format("{} and {}", chain_text({group.between->first}),
                                     chain_text({group.between->second}))
                       : chain_text(group.source);
}

bool by_somebody(const EmulatedFinding& finding) {
  return finding.ptx_line != 0 && finding.block != EmulatedFinding::kNobody;
}

}  // namespace

Fields<EmulatedConfig> emulated_config_fields() {
  using Row = EmulatedConfig;
  return joined_fields<Row>(
      {own_config_fields(),
       error_fields<Row>(8, kForPrograms),
       {{"not_finite", "not finite", kProgramsOnly, stat<&ErrorStats::not_finite>}},
       count_fields<Row>([](const Row& r) {
         return r.profile ? conflict_percent(r.profile->all) : std::nullopt;
       }),
       {{"detail", "detail", kWraps, or_none<&Row::detail>}}});
}

Fields<EmulatedLine> emulated_line_fields() {
  using Row = EmulatedLine;
  return joined_fields<Row>(
      {{
           {"file", "file", [](const Row& r) { return r.at.file; }},
           {"line", "line", [](const Row& r) { return r.at.line; }},
           {"text", "text", or_none<&Row::text>},
           {"inlined_thread_instructions", "inlined",
            [](const Row& r) { return r.inlined.thread_instructions; }},
       },
       count_fields<Row>([](const Row& r) { return conflict_percent(r.own); })});
}

Fields<EmulatedPart> emulated_part_fields() {
  using Row = EmulatedPart;
  return joined_fields<Row>(
      {{{"what", "what", kWraps, &Row::what}, {"ptx_line", "PTX line", &Row::ptx_line}},
       count_fields<Row>([](const Row& r) { return conflict_percent(r.counts); })});
}

Fields<EmulatedFinding> emulated_finding_fields() {
  using Row = EmulatedFinding;
  return {
      {"check", "check", &Row::check},
      {"kind", "kind", &Row::kind},
      {"ptx_line", "PTX line", or_none<&Row::ptx_line>},
      {"ptx", "PTX", or_none<&Row::ptx>},
      {"source", "source", [](const Row& r) { return text_or_none(chain_text(r.source)); }},
      {"block", "block",
       [](const Row& r) { return by_somebody(r) ? std::optional(r.block) : std::nullopt; }},
      {"thread", "thread",
       [](const Row& r) { return by_somebody(r) ? std::optional(r.thread) : std::nullopt; }},
      {"schedule", "schedule", &Row::schedule},
      {"input", "input", Look{.leaves = 7, .once = true}, &Row::input},
      {"text", "text", &Row::text},
      {"count", "count", &Row::count},
      {"memory", "memory", or_none<&Row::memory>},
      {"access", "access", or_none<&Row::access>},
      {"group", "group", &Row::group},
  };
}

Fields<EmulatedAccess> emulated_access_fields() {
  using Row = EmulatedAccess;
  return {
      {"access", "access", &Row::access},
      {"ptx_line", "PTX line", &Row::ptx_line},
      {"ptx", "PTX", &Row::ptx},
      {"source", "source", [](const Row& r) { return text_or_none(chain_text(r.source)); }},
      {"block", "block", &Row::block},
      {"thread", "thread", &Row::thread},
  };
}

Fields<FindingGroup> finding_group_fields() {
  using Row = FindingGroup;
  return {
      {"group", "group", &Row::number},
      {"findings", "findings", &Row::findings},
      {"kinds", "kinds", [](const Row& r) { return fmt::format("{}", fmt::join(r.kinds, ", ")); }},
      {"memory", "memory",
       [](const Row& r) { return text_or_none(fmt::format("{}", fmt::join(r.tensors, ", "))); }},
      {"place", "place", [](const Row& r) { return text_or_none(place_of(r)); }},
  };
}

}  // namespace fatune
