#include "commands/cases/cases_report.hpp"

#include "base/text_parts.hpp"
#include "print/run_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/visible_text.hpp"
#include "model/flop.hpp"
#include "model/outcome.hpp"
#include "model/record_json.hpp"

namespace fatune {
namespace {

double case_us(const CaseResult& r) { return r.best ? ranked_us(r.best->outcome) : 0.0; }

/// `amount` per microsecond of the best configuration's time, times `factor`; nothing without one.
std::optional<double> per_us(const CaseResult& r, double amount, double factor) {
  const double us = case_us(r);
  return us > 0.0 ? std::optional(amount / us * factor) : std::nullopt;
}

template <typename Get>
auto of_code(const CaseResult& r, const Get& get) {
  return r.best && r.best->facts ? std::optional(get(*r.best)) : std::nullopt;
}

Fields<CaseResult> leading_fields() {
  return {
      {"variant", "variant", &CaseResult::variant},
      {"problem", "problem", kProgramsOnly,
       [](const CaseResult& r) { return describe(r.problem); }},
      {"seq_len", "N_CTX", [](const CaseResult& r) { return r.problem.seq_len; }},
      {"candidates", "tried", kProgramsOnly, &CaseResult::candidates},
      {"time_ms", "ms", Look{.decimals = 4},
       [](const CaseResult& r) { return r.best ? std::optional(case_us(r) / 1e3) : std::nullopt; }},
      {"tflops", "TFLOPS", Look{.decimals = 1},
       [](const CaseResult& r) { return per_us(r, literature_flop(r.problem), 1e-6); }},
      {"gbps", "GB/s", Look{.decimals = 1},
       [](const CaseResult& r) { return per_us(r, needed_bytes(r.problem), 1e-3); }},
      {"memory_mb", "MB", Look{.decimals = 2},
       [](const CaseResult& r) { return needed_bytes(r.problem) / 1e6; }},
      {"speed_up", "speed-up", Look{.decimals = 3}, &CaseResult::speed_up},
      {"scaling", "scaling", Look{.decimals = 2}, &CaseResult::scaling},
  };
}

Fields<CaseResult> resource_columns() {
  return {
      {"registers_per_thread", "regs",
       [](const CaseResult& r) {
         return of_code(r, [](const Result& e) { return e.facts->registers_per_thread; });
       }},
      {"smem_bytes", "smem",
       [](const CaseResult& r) {
         return of_code(
             r, [](const Result& e) { return e.dynamic_smem_bytes + e.facts->static_smem_bytes; });
       }},
      {"blocks_per_sm", "blk/SM",
       [](const CaseResult& r) {
         return of_code(r, [](const Result& e) { return e.blocks_per_sm; });
       }},
      {"measured", "measured", kProgramsOnly,
       [](const CaseResult& r) {
         return r.best && std::holds_alternative<Measured>(r.best->outcome);
       }},
      {"verified", "verified",
       [](const CaseResult& r) {
         return r.best ? text_or_none(std::string(verified_by(r.best->outcome))) : std::nullopt;
       }},
      {"config", "best", kProgramsOnly,
       [](const CaseResult& r) {
         return r.best ? std::optional(r.best->short_form) : std::nullopt;
       }},
      {"detail", "why not", kProgramsOnly, or_none<&CaseResult::detail>},
  };
}

/// Appends the parameters to show, with "-" for a case without a best configuration.
void append_shown(const std::vector<CaseResult>& results, Table& table) {
  const auto shown =
      std::ranges::find_if(results, [](const CaseResult& r) { return !r.shown.empty(); });
  for (std::size_t i = 0; shown != results.end() && i < shown->shown.size(); ++i) {
    const std::string& name = shown->shown[i].name;
    append_column_of(
        table, {.name = name, .heading = name, .figure = true}, results,
        [&](const CaseResult& r) { return i < r.shown.size() ? r.shown[i].text : "-"; });
  }
}

Table records_of(const CasesReport& report) {
  Table table = table_of(case_fields(), report.results);
  append_shown(report.results, table);
  return table;
}

Json json_case(const CaseResult& result) {
  Json json = json_object(case_fields(), result);
  json["problem"] = record_json(result.problem);
  json["parameters"] = parameters_json(result.shown);
  return json;
}

Json json_cases(const CasesReport& report) {
  Json json = json_head("cases");
  json["cases"] = report.name;
  json["measured"] = report.measured;
  json["complete"] = report.complete;
  json["family"] = report.family;
  json["space"] = report.space;
  json["toolchain"] = record_json(report.toolchain);
  json["device"] = record_json(report.device);
  json["results"] = json_list(report.results, json_case);
  return json;
}

Coverage coverage_of(const CasesReport& report) {
  const auto done =
      std::ranges::count_if(report.results, [](const CaseResult& r) { return r.best.has_value(); });
  return {static_cast<std::size_t>(done), report.results.size(), report.complete};
}

std::string best_lines(const CasesReport& report) {
  return joined(report.results, "", [&](const CaseResult& r) {
    return fmt::format(
        "{} at {}: {}\n", visible_line(r.variant), r.problem.seq_len,
        visible_line(r.best ? r.best->short_form : "no configuration has a time: " + r.detail));
  });
}

Blocks blocks_of(const CasesReport& report) {
  const block::Warning unmeasured{
      "NOT MEASURED: nothing was timed; every time is an estimate (docs/estimate.md)"};
  Blocks blocks;
  if (!report.measured) {
    append(blocks, {unmeasured, block::ParagraphEnd{}});
  }
  append(blocks,
         {block::Line{fmt::format("{}: {}", report.name, report.summary)}, block::ParagraphEnd{},
          block::Line{fmt::format("{} ({}) | {}, space {}", report.device.name,
                                  arch_name(report.device.arch), report.family, report.space)},
          block::ParagraphEnd{}});
  if (!report.results.empty()) {
    append(blocks, {block::Rows{records_of(report)}, block::Text{"\n"}});
  }
  append(blocks,
         {block::Verbatim{best_lines(report)}, block::Text{incomplete_text(coverage_of(report))}});
  if (!report.measured) {
    append(blocks, {block::Text{"\n"}, unmeasured});
  }
  return blocks;
}

}  // namespace

Fields<CaseResult> case_fields() {
  return joined_fields<CaseResult>({leading_fields(), resource_columns()});
}

Document cases_document(const CasesReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] { return json_cases(report); }};
}

}  // namespace fatune
