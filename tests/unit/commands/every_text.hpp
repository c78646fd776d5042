#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "choose/tuned_file.hpp"
#include "commands/check/check_report.hpp"
#include "commands/compile/compile.hpp"
#include "commands/debug/debug_report.hpp"
#include "commands/emulate/emulate_report.hpp"
#include "commands/list/list.hpp"
#include "commands/profile/profile.hpp"
#include "commands/row_reports.hpp"
#include "model/emulation.hpp"
#include "model/members.hpp"
#include "print/export_report.hpp"

// Visits every text of a report. A report that gains a member does not compile until its list here
// or in model/members.hpp has it.
namespace fatune {

FATUNE_MEMBERS(CommonChoice, dtype, d_head, problems, config, family, mean_regret_percent,
               worst_regret_percent, worst_problem)
FATUNE_MEMBERS(SourceLine, file, line)
FATUNE_MEMBERS(EmulatedAccess, access, ptx_line, ptx, source, block, thread)
FATUNE_MEMBERS(EmulatedFinding, check, kind, ptx_line, ptx, source, block, thread, schedule, input,
               text, count, memory, access, other, group)
FATUNE_MEMBERS(UnorderedLines, first, second)
FATUNE_MEMBERS(FindingGroup, number, findings, kinds, tensors, between, source)
FATUNE_MEMBERS(EmulatedPart, what, ptx_line, counts)
FATUNE_MEMBERS(EmulatedLine, at, text, own, inlined)
FATUNE_MEMBERS(EmulatedProfile, all, opcodes, lines, source)
FATUNE_MEMBERS(EmulatedConfig, config, problem, outcome, runs, stats, inputs, rows, findings,
               groups, profile, work, detail, printed)
FATUNE_MEMBERS(EmulateReport, family, space, arch, toolchain, schedules, inputs, seed, checks,
               coverage, configs)
FATUNE_MEMBERS(SanitizerFinding, kind, what, kernel, place, against, space, size_bytes, thread,
               block, detail, count, group)
FATUNE_MEMBERS(CheckedInput, problem, config, seed, outcome, stats, detail, rows, tool, findings)
FATUNE_MEMBERS(DebugFailure, outcome, detail)
FATUNE_MEMBERS(DebugReport, family, config, head, also_right, declares_steps, init, seed, device,
               why_not_measured, emulated, why_not_emulated, findings_count, first_finding, failure,
               checks, likely_cause)
FATUNE_MEMBERS(ProfiledConfig, problem, config, kernel_name, outcome, detail, runs, duration_us,
               relative_percent, total_flop, sweep_us, counters)
FATUNE_MEMBERS(ProfileReport, device, family, read_by, source, coverage, fields, rows)
FATUNE_MEMBERS(ListedConfig, short_form, parameters, kernel_name, rule, reason, estimate_us)
FATUNE_MEMBERS(RuleCount, rule, reason, dropped, waits)
FATUNE_MEMBERS(PlanReport, space, family, kept, pruned, invalid, rules, kept_besides,
               pruned_besides, invalid_besides, seq_len, unknown_values)
FATUNE_MEMBERS(CompiledConfig, result, status, detail, log, symbol, problem, geometry, cubin_file,
               ptx_file)
FATUNE_MEMBERS(CompileReport, space, family, problem, device, toolchain, wall_s, coverage, configs)
FATUNE_MEMBERS(CaseResult, variant, problem, candidates, best, detail, shown, speed_up, scaling)
FATUNE_MEMBERS(CasesReport, name, summary, family, space, measured, complete, device, toolchain,
               results)
FATUNE_MEMBERS(ListedDevice, index, limits, unusable_because)
FATUNE_MEMBERS(DeviceReport, driver, remedy, devices)
FATUNE_MEMBERS(RunBest, problem, short_form, time_us)
FATUNE_MEMBERS(RunSummary, id, started_at, device, command_line, complete, shard, measured,
               problems, outcomes, reused, best)

/// Calls `visit` for each text of a value. Types without a list of members have none.
template <typename Visit>
class EveryText {
 public:
  explicit EveryText(const Visit& visit) : visit_(visit) {}

  void operator()(std::string& text) const { visit_(text); }
  void operator()(Problem&) const {}
  void operator()(std::vector<bool>&) const {}
  template <typename Item>
  void operator()(std::vector<Item>& items) const {
    for (Item& item : items) {
      (*this)(item);
    }
  }
  template <typename Item>
  void operator()(std::optional<Item>& item) const {
    if (item) {
      (*this)(*item);
    }
  }
  template <typename... Kinds>
  void operator()(std::variant<Kinds...>& value) const {
    std::visit(*this, value);
  }
  template <typename First, typename Second>
  void operator()(std::pair<First, Second>& pair) const {
    (*this)(const_cast<std::remove_const_t<First>&>(pair.first));  // NOLINT: not of a map
    (*this)(pair.second);
  }
  template <typename Value>
  void operator()(std::map<std::string, Value>& map) const {
    std::map<std::string, Value> visited;
    for (auto [key, value] : map) {
      (*this)(key);
      (*this)(value);
      visited[key] = value;
    }
    map = visited;
  }
  void operator()(RunReport& run) const {
    members(run);
    (*this)(run.choices);
  }
  template <typename Value>
  void operator()(Value& value) const {
    members(value);
  }

 private:
  template <typename Value>
  void members(Value& value) const {
    const auto each = [this](const auto&, auto& member) { (*this)(member); };
    if constexpr (requires { visit_members(value, each); }) {
      visit_members(value, each);
    }
  }

  const Visit& visit_;
};

}  // namespace fatune
