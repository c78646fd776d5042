#include "emit/winner_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emit/coverage.hpp"

namespace fatune {
namespace {

/// By how many percent `time` is longer than `reference`.
std::optional<double> more_percent(const std::optional<double>& time,
                                   const std::optional<double>& reference) {
  return time && reference ? std::optional(100.0 * (*time / *reference - 1.0)) : std::nullopt;
}

std::string_view doubt_text(WinnerDoubt doubt) {
  switch (doubt) {
    case WinnerDoubt::stopped:
      return "the run ended before every configuration was measured";
    case WinnerDoubt::tied_behind:
      return "slower by more than the tolerance, but with these samples that may be chance";
    case WinnerDoubt::wide_interval:
      return "too few or too noisy samples: how it compares is not known to within the tolerance";
    case WinnerDoubt::none:
      break;
  }
  return "";
}

std::string detail_of(const WinnerCheck& check) {
  return check.failure.empty() ? std::string(doubt_text(check.doubt)) : check.failure;
}

Json origin_json(const WinnerOrigin& origin) {
  return {
      {"device", origin.device}, {"driver", origin.driver}, {"driver_cuda", origin.driver_cuda}};
}

std::string origin_note(const WinnerReport& report) {
  std::string note;
  if (report.file.device != report.here.device) {
    note += fmt::format("the file is from another GPU model: {}, and this one is {}\n",
                        report.file.device, report.here.device);
  }
  const bool releases_known = !report.file.driver.empty() && !report.here.driver.empty();
  const auto driver = releases_known ? &WinnerOrigin::driver : &WinnerOrigin::driver_cuda;
  if (report.file.*driver != report.here.*driver) {
    note += fmt::format("the file is from another driver: {}{}, and this one is {}\n",
                        releases_known ? "" : "of CUDA ", report.file.*driver, report.here.*driver);
  }
  return note;
}

Coverage coverage_of(const WinnerReport& report) {
  const auto done = std::ranges::count_if(
      report.checks, [](const WinnerCheck& check) { return check.doubt != WinnerDoubt::stopped; });
  return {static_cast<std::size_t>(done), report.checks.size(), report.complete};
}

}  // namespace

std::string_view verdict_name(WinnerVerdict verdict) {
  switch (verdict) {
    case WinnerVerdict::confirmed:
      return "confirmed";
    case WinnerVerdict::beaten:
      return "beaten";
    case WinnerVerdict::failed:
      return "failed";
    case WinnerVerdict::undecided:
      break;
  }
  return "undecided";
}

std::string winner_notes(const WinnerReport& report) {
  std::string notes = origin_note(report);
  notes += report.file_measured
               ? "'since file' compares with the file's own times. Heat, clocks, another driver or "
                 "another GPU may explain it; no verdict rests on it."
               : "the file's times are estimates: nothing is compared with them";
  return notes;
}

const std::vector<Field<WinnerCheck>>& winner_check_fields() {
  static const std::vector<Field<WinnerCheck>> fields{
      {"problem", "problem", "the problem that was measured, e.g. b16 s4096 h16 d128 FP16", 0,
       kEverywhere, [](const WinnerCheck& c) { return describe(c.problem); },
       ColumnFit{.least = 14, .once = true}},
      {"verdict", "verdict",
       "confirmed: the winner is slower than the fastest by no more than the tolerance; beaten: "
       "another configuration is faster beyond doubt and tolerance; failed: the winner has no "
       "time; undecided: the measurements do not tell",
       0, kEverywhere, [](const WinnerCheck& c) { return std::string(verdict_name(c.verdict)); }},
      {"winner", "winner", "short form of the file's winner", 0, kEverywhere,
       member<&WinnerCheck::winner>, ColumnFit{.least = 24, .config = true}},
      {"winner_us", "us", "median time of the winner in microseconds; null: none", 1, kEverywhere,
       [](const WinnerCheck& c) { return c.winner_us; }, ColumnFit{.leaves = 2}},
      {"behind_percent", "behind %",
       "by how many percent the winner is slower than the fastest configuration; null: not known",
       2, kEverywhere,
       [](const WinnerCheck& c) { return more_percent(c.winner_us, c.fastest_us); }},
      {"fastest", "fastest",
       "short form of the fastest configuration of all; null: none has a time", 0, kEverywhere,
       [](const WinnerCheck& c) { return text_or_none(c.fastest); },
       ColumnFit{.least = 24, .config = true}},
      {"fastest_us", "us", "median time of the fastest configuration in microseconds; null: none",
       1, kEverywhere, [](const WinnerCheck& c) { return c.fastest_us; }, ColumnFit{.leaves = 1}},
      {"file_us", "file us",
       "median time of the winner in the file in microseconds; null: the file has an estimate", 1,
       kForPrograms, [](const WinnerCheck& c) { return c.file_us; }},
      {"since_file_percent", "since file %",
       "by how many percent the winner is slower than in the file; heat may explain it, no verdict "
       "rests on it",
       1, kEverywhere, [](const WinnerCheck& c) { return more_percent(c.winner_us, c.file_us); },
       ColumnFit{.leaves = 3}},
      {"detail", "detail", "why the winner failed, or why the verdict is undecided; null: neither",
       0, kEverywhere, [](const WinnerCheck& c) { return text_or_none(detail_of(c)); }, kWraps},
  };
  return fields;
}

Document winner_document(const WinnerReport& report) {
  const auto records = [&] { return table_of(winner_check_fields(), report.checks); };
  const auto for_people = [&report, records] {
    return Blocks{block::Rows{records()}, block::Text{incomplete_text(coverage_of(report))}};
  };
  const auto object = [&] {
    Json json = json_head("verify_winner");
    json["complete"] = report.complete;
    json["file"] = origin_json(report.file);
    json["here"] = origin_json(report.here);
    json["winners"] = json_rows(winner_check_fields(), report.checks);
    return json;
  };
  return {for_people, records, object};
}

}  // namespace fatune
