#include "print/workload_report.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "choose/workload_cost.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

std::optional<DetailValue> detail_of(const WorkloadRow& row, const ProblemDetail& detail) {
  return is_unusual(detail, row.call.problem)
             ? std::optional(detail_value(detail, row.call.problem))
             : std::nullopt;
}

Fields<WorkloadRow> fields_for_people() {
  return {
      {"problem", "problem", kWraps, [](auto& r) { return describe(r.call.problem); }},
      {"calls", "calls", decimals(0), [](auto& r) { return r.call.calls; }},
      {"time_us", "us of one", decimals(1), [](auto& r) { return r.call.time_us; }},
      {"total_ms", "ms of all", decimals(2),
       [](auto& r) {
         const auto total = total_us(r.call);
         return total ? std::optional(*total / kUsPerMs) : std::nullopt;
       }},
      {"time_percent", "% of time", decimals(1), &WorkloadRow::time_percent},
  };
}

double all_us(const Workload& workload) {
  return std::accumulate(
      workload.begin(), workload.end(), 0.0,
      [](double sum, const WorkloadCall& call) { return sum + total_us(call).value_or(0.0); });
}

std::vector<WorkloadRow> rows_of(const Workload& workload) {
  const bool is_timed = std::ranges::all_of(
      workload, [](const WorkloadCall& call) { return call.time_us.has_value(); });
  const double all = all_us(workload);
  auto rows = mapped(workload, [&](const WorkloadCall& call) {
    return WorkloadRow{call,
                       is_timed ? std::optional(100.0 * *total_us(call) / all) : std::nullopt};
  });
  if (is_timed) {
    std::ranges::stable_sort(rows, std::greater{}, &WorkloadRow::time_percent);
  }
  return rows;
}

std::string total_text(const std::vector<WorkloadRow>& rows) {
  const double calls =
      std::accumulate(rows.begin(), rows.end(), 0.0,
                      [](double sum, const WorkloadRow& row) { return sum + row.call.calls; });
  std::string text = fmt::format("{} problems, {:.0f} calls", rows.size(), calls);
  if (rows.front().time_percent) {
    const double all = all_us(mapped(rows, &WorkloadRow::call));
    text += fmt::format(", {:.2f} ms", all / kUsPerMs);
  }
  return text + "\n";
}

std::vector<SweptCall> swept_calls(const RunReport& report, const WorkloadCost& cost) {
  std::vector<SweptCall> calls;
  for (const ProblemReport& problem : report.problems) {
    if (problem.calls && !is_cover_race(problem) && !problem.ranking.empty()) {
      const double total = *problem.calls * ranked_us(problem.ranking.front().outcome);
      calls.push_back({&problem, total, 100.0 * total / cost.winners_us});
    }
  }
  return calls;
}

std::string ms_text(double us) { return fmt::format("{:.2f} ms", us / kUsPerMs); }

/// What the calls take with the winners, and how sure that is.
std::string winners_text(const WorkloadCost& cost, bool is_measured) {
  std::string text =
      fmt::format("{}{:.0f} calls take {} with the winners",
                  is_measured ? "" : "estimated: ", cost.calls, ms_text(cost.winners_us));
  if (is_measured) {
    text += fmt::format(" ({:.2f} to {:.2f} by the intervals of their medians)",
                        cost.low_us / kUsPerMs, cost.high_us / kUsPerMs);
  }
  return text;
}

std::string before_text(const WorkloadCost& cost) {
  return fmt::format("{} of the problems took {} before, and take {}: {:.3f} times as fast",
                     cost.known, ms_text(cost.before_us), ms_text(cost.after_us),
                     cost.before_us / cost.after_us);
}

std::string few_text(const FewConfigs& few, double winners_us) {
  return fmt::format("with {}: {}, {:+.2f} %",
                     few.configs.size() == 1 ? "one configuration alone"
                                             : fmt::format("{} configurations", few.configs.size()),
                     ms_text(few.total_us), 100.0 * (few.total_us / winners_us - 1.0));
}

}  // namespace

Fields<SweptCall> swept_call_fields() {
  return {
      {"problem", "problem", kWraps, [](auto& c) { return describe(c.problem->problem); }},
      {"calls", "calls", decimals(0), [](auto& c) { return c.problem->calls; }},
      {"before_us", "us before", decimals(1), [](auto& c) { return c.problem->before_us; }},
      {"time_us", "us", decimals(1),
       [](auto& c) { return ranked_us(c.problem->ranking.front().outcome); }},
      {"times_as_fast", "times as fast", decimals(3),
       [](auto& c) {
         return if_any(c.problem->before_us, [&](double before_us) {
           return before_us / ranked_us(c.problem->ranking.front().outcome);
         });
       }},
      {"time_percent", "% of time", decimals(1), &SweptCall::time_percent},
  };
}

Blocks workload_blocks(const RunReport& report) {
  const auto cost = workload_cost(report.problems);
  if (!cost) {
    return {};
  }
  Blocks blocks{block::Text{"\n"}, block::Heading{winners_text(*cost, report.measured)},
                block::Rows{table_of(swept_call_fields(), swept_calls(report, *cost))}};
  if (cost->known > 0) {
    append(blocks, {block::ParagraphEnd{}, block::Line{before_text(*cost)}});
  }
  for (const FewConfigs& few : cost->few) {
    append(blocks, {block::ParagraphEnd{}, block::Line{few_text(few, cost->winners_us)}});
  }
  append(blocks, {block::ParagraphEnd{}});
  return blocks;
}

Json workload_json(const RunReport& report) {
  const auto cost = workload_cost(report.problems);
  if (!cost) {
    return nullptr;
  }
  Json few = Json::array();
  for (const FewConfigs& some : cost->few) {
    few.push_back({{"configs", some.configs}, {"total_us", some.total_us}});
  }
  const auto if_known = [&](double us) { return cost->known > 0 ? Json(us) : Json(nullptr); };
  return {{"calls", json_rows(swept_call_fields(), swept_calls(report, *cost))},
          {"winners_us", cost->winners_us},
          {"low_us", cost->low_us},
          {"high_us", cost->high_us},
          {"before_us", if_known(cost->before_us)},
          {"after_us", if_known(cost->after_us)},
          {"few", std::move(few)}};
}

Fields<WorkloadRow> workload_fields() {
  const auto problem_of = [](auto& r) -> auto& { return r.call.problem; };
  return joined_fields<WorkloadRow>(
      {plain_problem_fields<WorkloadRow>(problem_of),
       detail_fields<WorkloadRow>(detail_of),
       {{"calls", "calls", decimals(0), [](auto& r) { return r.call.calls; }},
        {"time_us", "us", decimals(1), [](auto& r) { return r.call.time_us; }},
        {"time_percent", "% of time", decimals(1), &WorkloadRow::time_percent}}});
}

Document workload_document(const Workload& workload) {
  const std::vector<WorkloadRow> rows = rows_of(workload);
  return {[rows] {
            return Blocks{block::Rows{table_of(fields_for_people(), rows)},
                          block::Text{total_text(rows)}};
          },
          [rows] { return table_of(workload_fields(), rows); },
          [rows] {
            Json json = json_document("workload", Json::object());
            json["calls"] = json_rows(workload_fields(), rows);
            return json;
          }};
}

}  // namespace fatune
