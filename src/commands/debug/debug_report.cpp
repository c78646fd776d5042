#include "commands/debug/debug_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/visible_text.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

const auto verdict = [](const StepCheck& check) {
  return std::string(!check.max_error ? "not compared" : check.wrong > 0 ? "wrong" : "right");
};

template <auto kMember>
const auto wrong_value = [](const StepCheck& check) {
  return check.first_wrong ? std::optional((*check.first_wrong).*kMember) : std::nullopt;
};

// A step of all blocks, for people: the worst result of each tensor.
struct StepRow {
  std::int64_t step = 0;
  std::array<std::string, kStepTensors.size()> cells;
};

template <std::size_t kIndex>
const auto cell = [](const StepRow& row) { return row.cells[kIndex]; };

Fields<StepRow> step_row_fields() {
  return {{"step", "step", &StepRow::step},
          {"S", "S", cell<0>},
          {"M", "M", cell<1>},
          {"P", "P", cell<2>},
          {"L", "L", cell<3>},
          {"O", "O", cell<4>}};
}

double part_of_limit_percent(const StepCheck& check) {
  return check.limit > 0.0        ? 100.0 * *check.max_error / check.limit
         : *check.max_error > 0.0 ? std::numeric_limits<double>::infinity()
                                  : 0.0;
}

// The worst result of the checks of one step and tensor.
std::string worst_text(const DebugReport& report, std::optional<std::int64_t> step,
                       StepTensor tensor) {
  const auto checks = filtered(report.checks, [&](const StepCheck& check) {
    return check.step == step && check.tensor == tensor;
  });
  double percent = 0.0;
  double emulated = 0.0;
  bool wrong = false;
  bool compared = false;
  for (const StepCheck& check : checks) {
    emulated = std::max(emulated, check.emulated_error);
    compared = compared || check.max_error;
    wrong = wrong || check.wrong > 0;
    percent = check.max_error ? std::max(percent, part_of_limit_percent(check)) : percent;
  }
  return compared ? fmt::format("{}{:.3g} %", wrong ? "WRONG " : "", percent)
                  : fmt::format("{:.2e}", emulated);
}

std::vector<StepRow> step_rows(const DebugReport& report) {
  const auto steps = greatest_of<std::int64_t>(
      report.checks, [](const StepCheck& check) { return check.step.value_or(0) + 1; });
  std::vector<StepRow> rows;
  for (std::int64_t step = 0; step < steps; ++step) {
    StepRow& row = rows.emplace_back(StepRow{step, {}});
    for (std::size_t i = 0; i < kStepTensors.size(); ++i) {
      row.cells[i] = worst_text(report, step, kStepTensors[i]);
    }
  }
  return rows;
}

std::string headline(const DebugReport& report) {
  const HeadProblem& head = report.head;
  const std::string parts = head.tiles.steps_per_part == 0
                                ? ""
                                : fmt::format("; a part is {} steps", head.tiles.steps_per_part);
  return fmt::format(
      "{} on {}, init {}, seed {}\n{} blocks of {} queries; a step is {} keys, {}{}\n",
      visible_line(report.config), describe(head.problem()), visible_line(report.init), report.seed,
      head.q_blocks(), head.tiles.query_rows, head.tiles.keys_per_step,
      head.tiles.order == StepOrder::last_to_first ? "from the last to the first"
                                                   : "from the first to the last",
      parts);
}

bool shows_steps(const DebugReport& report) {
  return !report.checks.empty() && report.checks.front().max_error.has_value();
}

std::string status_line(const DebugReport& report) {
  if (has_not_run(report)) {
    const std::string why = report.why_not_emulated.empty() ? "" : "; " + report.why_not_emulated;
    return fmt::format("NO KERNEL RAN: {}{}. The CPU's values only.\n",
                       visible_line(report.why_not_measured), visible_line(why));
  }
  std::string text;
  if (report.emulated) {
    text = fmt::format("EMULATED on the CPU, not run on a GPU (docs/emulate.md): {}\n",
                       visible_line(report.why_not_measured));
  }
  if (report.failure) {
    return text + fmt::format("THE KERNEL FAILED: {}: {}\n", outcome_name(report.failure->outcome),
                              visible_line(report.failure->detail));
  }
  return shows_steps(report) ? text
                             : text +
                                   "The family declares no intermediates: only the output is "
                                   "compared. Steps are the CPU's.\n";
}

/// The emulator's first finding in a kernel that has finished; empty: none.
std::string findings_text(const DebugReport& report) {
  return report.first_finding.empty() || report.failure
             ? std::string()
             : fmt::format("THE EMULATOR FLAGS IT ('fatune emulate' says more): {}\n",
                           visible_line(report.first_finding));
}

std::string table_title(const DebugReport& report) {
  return shows_steps(report)
             ? "Greatest error of the kernel against float64, in percent of its limit:\n"
             : "Greatest error of the emulated 16-bit algorithm against float64:\n";
}

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string also_right_text(const DebugReport& report) {
  return report.also_right.empty() ? std::string()
                                   : visible_line(fmt::format("also run, and right: {}",
                                                              fmt::join(report.also_right, ", "))) +
                                         "\n";
}

std::string cause_text(const DebugReport& report) {
  return report.likely_cause.empty()
             ? "the family shows no steps, so nothing hints at the wrong one (docs/debug.md)"
             : "likely: " + visible_line(report.likely_cause);
}

std::string first_wrong_text(const DebugReport& report) {
  const StepCheck* const check = first_wrong(report.checks);
  if (check == nullptr) {
    return is_right(report) ? "all right\n" + also_right_text(report) : also_right_text(report);
  }
  const WrongValue& value = *check->first_wrong;
  const std::string step =
      check->step ? fmt::format("step {} (keys {} to {}), ", *check->step,
                                *check->kv_tile * report.head.tiles.keys_per_step,
                                (*check->kv_tile + 1) * report.head.tiles.keys_per_step - 1)
                  : std::string();
  return fmt::format(
      "FIRST WRONG: {}{} of block {}: row {}, column {}: kernel {}, float64 {}, 16-bit {}; error "
      "{}, limit {}; {} of {} values there\n  {}\n{}",
      step, enum_name(check->tensor), check->q_block, value.row, value.column, number(value.kernel),
      number(value.float64), number(value.sixteen_bit), number(value.error), number(check->limit),
      check->wrong, check->values, cause_text(report), also_right_text(report));
}

const char* verdict_of(const DebugReport& report) {
  return has_not_run(report)                     ? "not_run"
         : report.failure                        ? "failed"
         : first_wrong(report.checks) != nullptr ? "wrong"
         : report.findings_count > 0             ? "flagged"
                                                 : "right";
}

Json json_failure(const DebugReport& report) {
  return !report.failure ? Json()
                         : Json{{"outcome", outcome_name(report.failure->outcome)},
                                {"detail", report.failure->detail}};
}

Json json_debug(const DebugReport& report) {
  const StepCheck* const first = first_wrong(report.checks);
  const BlockTiles& tiles = report.head.tiles;
  return json_document(
      "debug",
      {{"family", report.family},
       {"config", report.config},
       {"problem", record_json(report.head.problem())},
       {"init", report.init},
       {"seed", report.seed},
       {"query_rows", tiles.query_rows},
       {"keys_per_step", tiles.keys_per_step},
       {"step_order", tiles.order == StepOrder::last_to_first ? "last_to_first" : "first_to_last"},
       {"reference_slack_log2", tiles.reference_slack_log2},
       {"steps_per_part", tiles.steps_per_part},
       {"also_right", report.also_right},
       {"declares_steps", report.declares_steps},
       {"measured", report.why_not_measured.empty() && !report.failure},
       {"why_not_measured", report.why_not_measured},
       {"emulated", report.emulated},
       {"why_not_emulated", report.why_not_emulated},
       {"findings_count", report.findings_count},
       {"first_finding", report.first_finding},
       {"device", report.device},
       {"failure", json_failure(report)},
       {"verdict", verdict_of(report)},
       {"first_wrong", first == nullptr ? Json() : json_object(step_check_fields(), *first)},
       {"likely_cause", report.likely_cause},
       {"checks", json_rows(step_check_fields(), report.checks)}});
}

Blocks blocks_of(const DebugReport& report) {
  const bool has_limit = !has_not_run(report) && !report.failure;
  return {block::Text{headline(report) + status_line(report) + "\n" + table_title(report) + "\n"},
          block::Rows{table_of(step_row_fields(), step_rows(report))},
          block::Text{"\noutput: " + worst_text(report, std::nullopt, StepTensor::output) +
                      (has_limit ? " of its limit" : "") + "\n" + first_wrong_text(report) +
                      findings_text(report)}};
}

}  // namespace

bool is_right(const DebugReport& report) { return std::string_view(verdict_of(report)) == "right"; }

Fields<StepCheck> step_check_fields() {
  using C = StepCheck;
  return {
      {"step", "step", &C::step},
      {"tensor", "tensor", [](auto& c) { return enum_name(c.tensor); }},
      {"q_block", "block", &C::q_block},
      {"kv_tile", "tile", &C::kv_tile},
      {"verdict", "verdict", verdict},
      {"max_error", "max error", decimals(6), &C::max_error},
      {"limit", "limit", decimals(6), &C::limit},
      {"emulated_error", "16-bit error", decimals(6), &C::emulated_error},
      {"values", "values", &C::values},
      {"wrong", "wrong", &C::wrong},
      {"row", "row", wrong_value<&WrongValue::row>},
      {"column", "column", wrong_value<&WrongValue::column>},
      {"kernel", "kernel", decimals(6), wrong_value<&WrongValue::kernel>},
      {"float64", "float64", decimals(6), wrong_value<&WrongValue::float64>},
      {"sixteen_bit", "16-bit", decimals(6), wrong_value<&WrongValue::sixteen_bit>},
  };
}

Document debug_document(const DebugReport& report) {
  return {[&] { return blocks_of(report); },
          [&] { return table_of(step_check_fields(), report.checks); },
          [&] { return json_debug(report); }};
}

}  // namespace fatune
