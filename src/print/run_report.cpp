#include "print/run_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "print/comparisons.hpp"
#include "print/quantization_report.hpp"
#include "print/workload_report.hpp"

namespace fatune {
namespace {

constexpr const char* kNotMeasured =
    "NOT MEASURED: no GPU was used; every time below is an estimate (docs/estimate.md)";
constexpr const char* kIncomplete = "INCOMPLETE: the run was stopped before it had done everything";
constexpr const char* kNotMeasuredEnd =
    "NOT MEASURED: nothing was timed; the ranking above is an estimate";

using Rows = std::vector<ResultRow>;
Rows rows_of(const RunReport& run, const ProblemReport& problem,
             const std::vector<Result>& results) {
  return mapped(results, [&](const Result& result) { return ResultRow{&run, &problem, &result}; });
}

void append_rows(const RunReport& report, Rows& rows) {
  for (const ProblemReport& problem : report.problems) {
    for (const auto* results : {&problem.ranking, &problem.failures, &problem.audited}) {
      for (const Result& result : *results) {
        rows.push_back({&report, &problem, &result});
      }
    }
  }
}

/// Leaves out the family if all rows are of the run's family, which the report's first line names.
Fields<ResultRow> fields_for_people(const Rows& rows) {
  Fields<ResultRow> fields = result_fields_for_people(rows);
  if (std::ranges::all_of(rows,
                          [](auto& row) { return row.result->config.family == row.run->family; })) {
    std::erase_if(fields, [](const Field<ResultRow>& field) { return field.name == kFamilyField; });
  }
  return fields;
}

std::string device_line(const RunReport& report) {
  const DeviceLimits& device = report.device;
  const std::string space = report.space.empty() ? "" : ", space " + report.space;
  const std::string& nvrtc = report.toolchain.nvrtc_version;
  const std::string shard = report.shard ? " | shard " + shard_text(*report.shard) : "";
  return visible_line(fmt::format("{} ({}, {} SMs){} | {}{}{}", device.name, arch_name(device.arch),
                                  device.sm_count, nvrtc.empty() ? "" : " | NVRTC " + nvrtc,
                                  report.family, space, shard));
}

std::string strategy_text(const MeasurePolicy& policy) {
  if (policy.strategy == Strategy::exhaustive) {
    return fmt::format("{} warm-ups, {} samples each", policy.warmup, policy.repeats);
  }
  const std::string budget =
      policy.budget_s > 0.0 ? fmt::format(", budget {} s", policy.budget_s) : std::string();
  return fmt::format("race to +-{:.3g} %{}", 100.0 * policy.target_ci, budget);
}

std::string policy_line(const RunReport& report) {
  const MeasurePolicy& policy = report.policy;
  return fmt::format("{}, L2 {}, gate {}{}, seed {}; ranked by the median{}", strategy_text(policy),
                     policy.flush_l2 ? "flushed" : "warm", policy.device_gate ? "on" : "off",
                     policy.cuda_graph ? ", CUDA graph" : "", policy.seed,
                     policy.sustain_s > 0.0 ? ", at the power cap by sustained times" : "");
}

std::string time_line(const RunReport& report) {
  const std::string gpus =
      report.gpus == 1 ? "the GPU was" : fmt::format("{} GPUs were", report.gpus);
  return fmt::format("{:.1f} s; {} measuring or verifying {:.0f} % of it", report.wall_s, gpus,
                     busy_percent(report));
}

/// How the fastest ran alone, or why they did not; empty unless that was wanted.
std::string sustained_text(const RunReport& run, const ProblemReport& problem) {
  if (!problem.measuring->not_sustained_because.empty()) {
    return "; no sustained final: " + problem.measuring->not_sustained_because;
  }
  const auto finalists = std::ranges::count_if(problem.ranking, [](const Result& result) {
    const auto* const measured = std::get_if<Measured>(&result.outcome);
    return measured != nullptr && measured->timing.sustained_us > 0.0;
  });
  return finalists == 0
             ? ""
             : fmt::format("; the first {} are ranked by their times alone, in turns of {:.3g} s",
                           finalists, run.policy.sustain_s);
}

std::string part_text(const MeasuringSummary& measuring) {
  return measuring.part_rounds == 0
             ? std::string()
             : fmt::format(", the first {} on {:.3g} % of the problem", measuring.part_rounds,
                           100.0 * measuring.part_share);
}

/// How the samples were taken, and the chip's clock, power and temperature meanwhile.
std::string measuring_text(const RunReport& run, const ProblemReport& problem) {
  std::string text;
  if (problem.measuring) {
    const MeasuringSummary& m = *problem.measuring;
    text += fmt::format("{} samples in {} + {} rounds{}, {:.1f} s: {}; {} retaken, drift {:+.1f} %",
                        m.samples_taken, m.rounds, m.final_rounds, part_text(m), m.elapsed_s,
                        enum_name(m.stopped_because), m.samples_retaken, m.drift_percent);
    text += m.at_sm_mhz > 0.0 ? fmt::format("; times are at {:.0f} MHz", m.at_sm_mhz) : "";
    text += sustained_text(run, problem);
  }
  if (problem.conditions) {
    const GpuConditions& c = *problem.conditions;
    text +=
        fmt::format("; {:.0f} MHz ({:.0f} to {:.0f})", c.sm_mhz_median, c.sm_mhz_min, c.sm_mhz_max);
    text += c.power_w_median > 0.0 ? fmt::format(", {:.0f} W", c.power_w_median) : "";
    text += c.temperature_c_max > 0.0 ? fmt::format(", {:.0f} C", c.temperature_c_max) : "";
    text +=
        c.throttle_reasons.empty() ? "" : fmt::format(", {}", fmt::join(c.throttle_reasons, ", "));
  }
  return text.empty() ? text : visible_line(text) + "\n";
}

std::string warnings_text(const ProblemReport& problem) {
  const auto line_of = [](const std::string& warning) {
    return "warning: " + visible_line(warning) + "\n";
  };
  return problem.measuring ? joined(problem.measuring->warnings, "", line_of) : std::string();
}

block::Rows block_of(Rows rows, std::size_t top = 0) {
  const auto fields = fields_for_people(rows);
  return first_rows(fields, std::move(rows), top);
}

Blocks ranking_of(const RunReport& run, const ProblemReport& problem, std::size_t top) {
  if (problem.ranking.empty()) {
    return {block::Warning{"no configuration has a time"}};
  }
  Blocks blocks{block_of(rows_of(run, problem, problem.ranking), top)};
  if (std::string line = roofline_text(run, problem); !line.empty()) {
    append(blocks, {block::ParagraphEnd{}, block::Text{std::move(line)}});
  }
  return blocks;
}

Blocks counters_of(const ProblemReport& problem) {
  Table table = counter_table(problem.ranking);
  return table.rows.empty() ? Blocks{}
                            : Blocks{block::Text{"\nhardware counters:\n"}, block::ParagraphEnd{},
                                     block::Rows{std::move(table)}};
}

std::string rule_text(const RuleAudit& rule) {
  if (rule.audited == 0) {
    return fmt::format(
        "rule {}: none of its {} was tried; --audit all tries those that the family can build\n",
        visible_line(rule.rule), rule.pruned);
  }
  const std::string cost =
      rule.best_config.empty() ? std::string("none of them has a time")
      : rule.gain_percent > 0.0
          ? fmt::format("COST {:.1f} %: {} is faster than the winner", rule.gain_percent,
                        visible_line(rule.best_config))
          : fmt::format("cost nothing: the best of them is {:.1f} % behind", -rule.gain_percent);
  return fmt::format(
      "rule {}: {} of {} tried; saved {:.1f} s of compiling and {:.1f} s of samples; {}\n",
      visible_line(rule.rule), rule.audited, rule.pruned, rule.saved_compile_s,
      rule.saved_measure_s, cost);
}

Blocks audit_of(const RunReport& run, const ProblemReport& problem) {
  if (problem.audited.empty()) {
    return {};
  }
  return {block::Text{"\n"},
          block::Warning{fmt::format("{} pruned ones tried for the {}:", problem.audited.size(),
                                     is_cover_race(problem) ? "cover, with the winner" : "audit")},
          block::Text{joined(problem.audit, "", rule_text)}, block::ParagraphEnd{},
          block_of(rows_of(run, problem, problem.audited))};
}

std::string reused_text(const ProblemReport& problem) {
  std::ptrdiff_t count = 0;
  for (const auto* results : {&problem.ranking, &problem.failures}) {
    count += std::ranges::count_if(*results, [](const Result& result) { return result.reused; });
  }
  return count == 0 ? std::string() : fmt::format("; {} reused", count);
}

/// The number of configurations by proposer; empty unless a search chose them.
std::string proposers_text(const ProblemReport& problem) {
  std::map<std::string, std::size_t> proposed;
  for (const auto* results : {&problem.ranking, &problem.failures}) {
    for (const Result& result : *results) {
      proposed[result.proposed_by] += result.proposal > 0 ? 1 : 0;
    }
  }
  std::string text;
  for (const auto& [by, count] : proposed) {
    text +=
        count == 0 ? "" : fmt::format("{}{} {}", text.empty() ? "" : ", ", visible_line(by), count);
  }
  return was_searched(problem) ? fmt::format("proposed by: {}\n", text) : std::string();
}

/// The configurations that the search left out, and the way to try them.
std::string untried_text(const ProblemReport& problem) {
  return problem.untried == 0 || problem.untried_because.empty()
             ? std::string()
             : fmt::format(
                   "{} of {} configurations were not tried: {} (--search exhaustive tries "
                   "all)\n",
                   problem.untried,
                   static_cast<std::int64_t>(count_candidates(problem)) + problem.untried,
                   visible_line(problem.untried_because));
}

std::string_view source_text(EstimateSource source) {
  constexpr std::array<std::string_view, 4> kTexts{"the problem alone", "the family's quantities",
                                                   "the instructions that emulation counted",
                                                   "a model fitted to measured times"};
  return kTexts.at(static_cast<std::size_t>(source));
}

/// The number of configurations by what their estimates were made from.
std::string estimated_from_text(const ProblemReport& problem) {
  std::map<EstimateSource, std::size_t> counts;
  for (const Result& result : problem.ranking) {
    if (const auto* estimated = std::get_if<Estimated>(&result.outcome)) {
      ++counts[estimated->from];
    }
  }
  std::string text;
  for (const auto& [source, count] : counts) {
    text += fmt::format("{}{} from {}", text.empty() ? "estimated: " : ", ", count,
                        source_text(source));
  }
  return text.empty() ? text : text + "\n";
}

/// How far emulation verified the ranking of an estimate.
Blocks verified_of(const RunReport& run, const ProblemReport& problem) {
  if (run.measured || problem.ranking.empty()) {
    return {};
  }
  const Result* emulated = nullptr;
  const Result* not_covered = nullptr;
  std::size_t count = 0;
  for (const Result& result : problem.ranking) {
    const bool right = !verified_by(result.outcome).empty();
    count += right ? 1 : 0;
    (right ? emulated : not_covered) = &result;
  }
  if (emulated == nullptr &&
      std::get<Estimated>(not_covered->outcome).not_verified_because.empty()) {
    return {block::Warning{"NOT VERIFIED: nothing was run, not even on the CPU"}};
  }
  Blocks blocks;
  if (emulated != nullptr) {
    blocks.push_back(
        block::Text{fmt::format("{} of {} verified: {}\n", count, problem.ranking.size(),
                                visible_line(verification_of(emulated->outcome)->method))});
  }
  if (not_covered != nullptr) {
    blocks.push_back(block::Warning{fmt::format(
        "{} NOT VERIFIED, among them {}: {}", problem.ranking.size() - count,
        not_covered->short_form, std::get<Estimated>(not_covered->outcome).not_verified_because)});
  }
  return blocks;
}

/// What 8 bits cost, as far as an input told it when the ranked ones were verified.
std::string quantization_text(const ProblemReport& problem) {
  return quantization_text(mapped(problem.ranking, [&](const Result& result) {
    const Verification* const verification = verification_of(result.outcome);
    return QuantizedOutput{&problem.problem, verification == nullptr
                                                 ? nullptr
                                                 : find_quantization(verification->inputs)};
  }));
}

Blocks problem_of(const RunReport& run, const ProblemReport& problem, std::size_t top) {
  const std::string heading =
      fmt::format("{}: {} ranked, {} failed, {} pruned, {} invalid{}",
                  describe_run(problem.problem, problem.run), problem.ranking.size(),
                  count_failed(problem), problem.pruned, problem.invalid, reused_text(problem));
  return joined_blocks(
      {{block::Text{"\n"}, block::Heading{heading},
        block::Text{measuring_text(run, problem) + proposers_text(problem) + untried_text(problem) +
                    estimated_from_text(problem)}},
       verified_of(run, problem),
       {block::Text{quantization_text(problem) + warnings_text(problem)}, block::ParagraphEnd{}},
       ranking_of(run, problem, top),
       counters_of(problem),
       audit_of(run, problem)});
}

/// The result: a sentence, and a table of the winners of several problems.
Blocks winners_of(const RunReport& report) {
  Blocks blocks{block::Heading{winners_sentence(report)}};
  if (const auto problems = problems_of(report); problems.size() > 1) {
    append(blocks, {block::Rows{table_of(winner_fields_for_people(problems), problems)},
                    block::ParagraphEnd{}});
  }
  for (const std::string& sentence : choice_sentences(report)) {
    append(blocks, {block::Line{sentence}, block::ParagraphEnd{}});
  }
  append(blocks, workload_blocks(report));
  return blocks;
}

std::string order_lines(const RunReport& report) {
  return joined(report.estimate_orders, "",
                [](const auto& of_family) { return visible_line(of_family.second) + "\n"; });
}

Blocks failures_of(const RunReport& report) {
  const std::vector<FailureGroup> groups = failure_groups(report);
  if (groups.empty()) {
    return {};
  }
  std::size_t failed = 0;
  std::size_t dropped = 0;
  for (const FailureGroup& group : groups) {
    (group.outcome == OutcomeKind::pruned ? dropped : failed) += group.count;
  }
  return {block::Text{"\n"},
          block::Heading{fmt::format("not in the rankings: {} failed, {} dropped by rules because "
                                     "of the problem",
                                     failed, dropped)},
          block::Rows{table_of(failure_group_fields(), groups)}, block::ParagraphEnd{},
          block::Text{fmt::format("one line for each reason; --filter \"outcome != '{}'\" of sweep "
                                  "and show, and --format csv, list every configuration\n",
                                  report.measured ? "measured" : "estimated")}};
}

std::string head_lines(const RunReport& report) {
  return device_line(report) + "\n" +
         (!report.measured ? "measured: false\n" + order_lines(report)
          : report.imported_from.empty()
              ? "measured: true; " + policy_line(report) + "\n" + time_line(report) + "\n"
              : "measured: true; times of " + visible_line(report.imported_from) + "\n");
}

Blocks gate_of(const GateReport& gate) {
  const std::string counts = counts_text(gate.checks);
  return {block::Heading{fmt::format("winners{}{} against {}", gate.of.empty() ? "" : " of ",
                                     gate.of, gate.against)},
          is_worse(gate.checks) ? Block{block::Warning{counts}} : Block{block::Line{counts}},
          block::ParagraphEnd{}, block::Rows{table_of(rival_check_fields(), gate.checks)},
          block::Text{fmt::format("equal: within {} %, in rounds in which both take turns\n",
                                  gate.tolerance_percent)}};
}

/// What may make the results less than they seem.
Blocks warnings_of(const RunReport& report) {
  Blocks blocks;
  if (!report.measured) {
    append(blocks, {block::Warning{kNotMeasured}, block::ParagraphEnd{}});
  }
  if (!report.complete) {
    append(blocks, {block::Warning{kIncomplete}, block::ParagraphEnd{}});
  }
  for (const std::string& disturbance : report.disturbances) {
    append(blocks,
           {block::Warning{"times may be disturbed: " + disturbance}, block::ParagraphEnd{}});
  }
  return blocks;
}

Blocks blocks_of(const RunReport& report, std::size_t top,
                 const std::optional<PeerStudy>& peers = {}) {
  Blocks blocks = warnings_of(report);
  append(blocks, winners_of(report));
  if (peers) {
    append(blocks, {block::Text{shipped_beside_peers(report, *peers)}, block::ParagraphEnd{}});
  }
  if (report.gate) {
    append(blocks, {block::Text{"\n"}});
    append(blocks, gate_of(*report.gate));
  }
  append(blocks, {block::Text{"\n" + head_lines(report)}, block::ParagraphEnd{}});
  for (const ProblemReport& problem : report.problems) {
    append(blocks, problem_of(report, problem, top));
  }
  append(blocks, failures_of(report));
  if (!report.complete) {
    append(blocks, {block::Text{"\n"}, block::Warning{kIncomplete}});
  }
  if (!report.measured) {
    append(blocks, {block::Text{"\n"}, block::Warning{kNotMeasuredEnd}});
  }
  return blocks;
}

Table table_of_results(const Rows& rows) {
  Table table =
      table_of(joined_fields<ResultRow>({problem_fields(), result_fields(), run_fields()}), rows);
  if (!rows.empty()) {
    append_parameters(rows, table);
    append_counters(mapped(rows, &ResultRow::result), table);
  }
  return table;
}

Table records_of(std::span<const RunReport> reports) {
  Rows rows;
  for (const RunReport& report : reports) {
    append_rows(report, rows);
  }
  return table_of_results(rows);
}

}  // namespace

Document run_document(const RunReport& report, std::size_t top,
                      const std::optional<PeerStudy>& peers) {
  return {[&report, top, peers] { return blocks_of(report, top, peers); },
          [&] {
            return records_of({&report, 1});
          },
          [&] { return results_object(report); }};
}

Document gate_document(const RunReport& report) {
  const auto for_people = [&report] {
    Blocks blocks = warnings_of(report);
    append(blocks, gate_of(*report.gate));
    return blocks;
  };
  return {for_people, [&report] { return table_of(rival_check_fields(), report.gate->checks); },
          [&report] { return results_object(report); }};
}

std::string outcome_line(const RunReport& run, const ProblemReport& problem, const Result& result) {
  const Table record = table_of_results({{&run, &problem, &result}});
  Json json = json_head("outcome");
  json.update(json_record(record, record.rows.front()));
  return json_line(json);
}

std::string results_json(const RunReport& report) {
  return render(run_document(report), OutputFormat::json);
}

std::string results_csv(const RunReport& report) {
  return render(run_document(report), OutputFormat::csv);
}

Document runs_document(const std::vector<RunReport>& reports, std::size_t top) {
  const auto for_people = [&reports, top] {
    Blocks blocks;
    for (const RunReport& report : reports) {
      append(blocks, blocks_of(report, top));
    }
    return blocks;
  };
  return {for_people, [&] { return records_of(reports); }, [&] { return runs_object(reports); }};
}

}  // namespace fatune
