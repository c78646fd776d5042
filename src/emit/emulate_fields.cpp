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
void add_count_fields(std::vector<Field<Row>>& fields, FieldGetter<Row> conflicts) {
  using Counts = EmulatedCounts;
  fields.insert(fields.end(),
                {{"warp_instructions", "warp instr", "number of instructions that warps issued", 0,
                  kEverywhere, count<&Counts::warp_instructions>, ColumnFit{.leaves = 6}},
                 {"thread_instructions", "thread instr",
                  "number of instructions executed, counted for each thread", 0, kEverywhere,
                  count<&Counts::thread_instructions>, ColumnFit{.leaves = 10}},
                 {"shared_wavefronts", "wavefronts",
                  "number of passes (wavefronts) that shared-memory accesses needed", 0,
                  kEverywhere, count<&Counts::shared_wavefronts>, ColumnFit{.leaves = 5}},
                 {"ideal_wavefronts", "ideal",
                  "number of passes (wavefronts) that shared-memory accesses would need without "
                  "bank conflicts",
                  0, kEverywhere, count<&Counts::ideal_wavefronts>, ColumnFit{.leaves = 1}},
                 {"conflict_percent", "conflict %",
                  "wavefronts that bank conflicts added, in percent of ideal_wavefronts", 1,
                  kEverywhere, conflicts, ColumnFit{.leaves = 11}},
                 {"global_sectors", "sectors",
                  "number of 32-byte sectors of global memory that were accessed", 0, kEverywhere,
                  count<&Counts::global_sectors>, ColumnFit{.leaves = 4}},
                 {"bytes", "bytes", "number of bytes that loads and stores asked for", 0,
                  kForPrograms, count<&Counts::bytes>}});
}

std::vector<Field<EmulatedConfig>> make_config_fields() {
  using Row = EmulatedConfig;
  std::vector<Field<Row>> fields{
      {"problem", "problem",
       "the problem that the configuration was run on, e.g. b16 s4096 h16 d128 FP16", 0,
       kEverywhere, [](const Row& r) { return describe(r.problem); }, ColumnFit{.once = true}},
      {"config", "config", "the configuration's short form", 0, kEverywhere, member<&Row::config>,
       ColumnFit{.config = true}},
      {"outcome", "outcome",
       "how the emulation ended: right, wrong_result, flagged (there are findings), not_covered "
       "(an instruction that is not emulated), compile_failed, compiler_crashed, invalid, "
       "unlaunchable",
       0, kEverywhere, [](const Row& r) { return outcome_name(r.outcome); },
       ColumnFit{.once = true}},
      {"runs", "runs", "number of runs: schedules times inputs", 0, kForPrograms,
       member<&Row::runs>},
      {"findings_count", "findings", "number of findings listed", 0, kEverywhere,
       [](const Row& r) { return r.findings.size(); }, ColumnFit{.leaves = 9}}};
  add_error_fields(fields,
                   {"kind of input of the worst run",
                    "greatest absolute difference from the float64 reference", 8, kForPrograms});
  fields.push_back({"not_finite", "not finite", "number of NaN, infinite or unwritten elements", 0,
                    kForPrograms, stat<&ErrorStats::not_finite>});
  add_count_fields<Row>(fields, [](const Row& r) {
    return r.profile ? conflict_percent(r.profile->all) : std::nullopt;
  });
  fields.push_back({"detail", "detail", "what is wrong; null: nothing", 0, kEverywhere,
                    [](const Row& r) { return text_or_none(r.detail); }, kWraps});
  return fields;
}

std::string place_of(const FindingGroup& group) {
  return group.between ? fmt::format("{} and {}", chain_text({group.between->first}),
                                     chain_text({group.between->second}))
                       : chain_text(group.source);
}

bool by_somebody(const EmulatedFinding& finding) {
  return finding.ptx_line != 0 && finding.block != EmulatedFinding::kNobody;
}

std::vector<Field<EmulatedLine>> make_line_fields() {
  using Row = EmulatedLine;
  std::vector<Field<Row>> fields{
      {"file", "file", "source file, as #include names it", 0, kEverywhere,
       [](const Row& r) { return r.at.file; }},
      {"line", "line", "number of the source line, from 1", 0, kEverywhere,
       [](const Row& r) { return r.at.line; }},
      {"text", "text", "text of the source line; null: the file is not known", 0, kEverywhere,
       [](const Row& r) { return text_or_none(r.text); }},
      {"inlined_thread_instructions", "inlined",
       "thread instructions of functions that were inlined in this line", 0, kEverywhere,
       [](const Row& r) { return r.inlined.thread_instructions; }}};
  add_count_fields<Row>(fields, [](const Row& r) { return conflict_percent(r.own); });
  return fields;
}

std::vector<Field<EmulatedPart>> make_part_fields() {
  using Row = EmulatedPart;
  std::vector<Field<Row>> fields{
      {"what", "what", "opcode, or source line with the lines that it was inlined at", 0,
       kEverywhere, member<&Row::what>, kWraps},
      {"ptx_line", "PTX line", "PTX line of the first such instruction", 0, kEverywhere,
       member<&Row::ptx_line>}};
  add_count_fields<Row>(fields, [](const Row& r) { return conflict_percent(r.counts); });
  return fields;
}

}  // namespace

const std::vector<Field<EmulatedConfig>>& emulated_config_fields() {
  static const std::vector<Field<EmulatedConfig>> fields = make_config_fields();
  return fields;
}

const std::vector<Field<EmulatedLine>>& emulated_line_fields() {
  static const std::vector<Field<EmulatedLine>> fields = make_line_fields();
  return fields;
}

const std::vector<Field<EmulatedPart>>& emulated_part_fields() {
  static const std::vector<Field<EmulatedPart>> fields = make_part_fields();
  return fields;
}

const std::vector<Field<EmulatedFinding>>& emulated_finding_fields() {
  using Row = EmulatedFinding;
  static const std::vector<Field<Row>> fields{
      {"check", "check",
       "check that found the mistake: mem, init, race, sync, deadlock, trap, schedules (the output "
       "depends on the schedule) or launches (it depends on earlier launches)",
       0, kEverywhere, member<&Row::check>},
      {"kind", "kind", "kind of mistake", 0, kEverywhere, member<&Row::kind>},
      {"ptx_line", "PTX line",
       "PTX line of the instruction; null: the mistake is at no instruction", 0, kEverywhere,
       [](const Row& r) { return r.ptx_line == 0 ? std::nullopt : std::optional(r.ptx_line); }},
      {"ptx", "PTX", "PTX instruction at which the mistake was found; null: none", 0, kEverywhere,
       [](const Row& r) { return text_or_none(r.ptx); }},
      {"source", "source",
       "source file and line of the instruction, then the lines where that was inlined; null: not "
       "known",
       0, kEverywhere, [](const Row& r) { return text_or_none(chain_text(r.source)); }},
      {"block", "block",
       "linear index of the block that first met the mistake; null: no block in particular", 0,
       kEverywhere,
       [](const Row& r) { return by_somebody(r) ? std::optional(r.block) : std::nullopt; }},
      {"thread", "thread",
       "linear index in its block of the thread that first met the mistake; null: no thread in "
       "particular",
       0, kEverywhere,
       [](const Row& r) { return by_somebody(r) ? std::optional(r.thread) : std::nullopt; }},
      {"schedule", "schedule", "schedule of the run that first met the mistake", 0, kEverywhere,
       member<&Row::schedule>},
      {"input", "input", "kind of input of the run that first met the mistake", 0, kEverywhere,
       member<&Row::input>, ColumnFit{.leaves = 7, .once = true}},
      {"text", "text", "the mistake in words", 0, kEverywhere, member<&Row::text>},
      {"count", "count", "how often the mistake was met, over all runs", 0, kEverywhere,
       member<&Row::count>},
      {"memory", "memory",
       "memory that the mistake is about: tensor and element, or an address; null: none", 0,
       kEverywhere, [](const Row& r) { return text_or_none(r.memory); }},
      {"access", "access",
       "kind of access to memory: read, write, asynchronous read or asynchronous write (of a copy "
       "or product); null: none",
       0, kEverywhere, [](const Row& r) { return text_or_none(r.access); }},
      {"group", "group",
       "number of the finding's group: findings of a group most likely have one cause", 0,
       kEverywhere, member<&Row::group>},
  };
  return fields;
}

const std::vector<Field<EmulatedAccess>>& emulated_access_fields() {
  using Row = EmulatedAccess;
  static const std::vector<Field<Row>> fields{
      {"access", "access", "kind of access: read, write, asynchronous read or asynchronous write",
       0, kEverywhere, member<&Row::access>},
      {"ptx_line", "PTX line", "PTX line of the instruction", 0, kEverywhere,
       member<&Row::ptx_line>},
      {"ptx", "PTX", "PTX instruction that made the access", 0, kEverywhere, member<&Row::ptx>},
      {"source", "source",
       "source file and line of the instruction, then the lines where that was inlined; null: not "
       "known",
       0, kEverywhere, [](const Row& r) { return text_or_none(chain_text(r.source)); }},
      {"block", "block", "linear index of the block that made the access", 0, kEverywhere,
       member<&Row::block>},
      {"thread", "thread", "linear index in its block of the thread that made the access", 0,
       kEverywhere, member<&Row::thread>},
  };
  return fields;
}

const std::vector<Field<FindingGroup>>& finding_group_fields() {
  using Row = FindingGroup;
  static const std::vector<Field<Row>> fields{
      {"group", "group", "number of the group, from 1, in the order in which groups were met", 0,
       kEverywhere, member<&Row::number>},
      {"findings", "findings", "number of findings in the group", 0, kEverywhere,
       member<&Row::findings>},
      {"kinds", "kinds", "kinds of mistakes in the group", 0, kEverywhere,
       [](const Row& r) { return fmt::format("{}", fmt::join(r.kinds, ", ")); }},
      {"memory", "memory",
       "tensors or other memory that the group's findings are about; null: none", 0, kEverywhere,
       [](const Row& r) { return text_or_none(fmt::format("{}", fmt::join(r.tensors, ", "))); }},
      {"place", "place",
       "for races the two source lines that nothing orders, else the source line of the group's "
       "first finding; null: not known",
       0, kEverywhere, [](const Row& r) { return text_or_none(place_of(r)); }},
  };
  return fields;
}

}  // namespace fatune
