#include "emit/winner_report.hpp"

#include "emit/print_rows.hpp"

namespace fatune {
namespace {

FieldValue number_or_none(const std::optional<double>& value) {
  return value ? FieldValue{*value} : FieldValue{};
}

FieldValue behind_percent(const WinnerCheck& check) {
  return check.winner_us && check.fastest_us
             ? FieldValue{100.0 * (*check.winner_us / *check.fastest_us - 1.0)}
             : FieldValue{};
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
    case WinnerVerdict::unknown:
      break;
  }
  return "unknown";
}

const std::vector<Field<WinnerCheck>>& winner_check_fields() {
  static const std::vector<Field<WinnerCheck>> fields{
      {"problem", "problem", "what it was measured on", 0, Shown::everywhere,
       [](const WinnerCheck& c) { return FieldValue{describe(c.problem)}; }},
      {"verdict", "verdict",
       "confirmed; beaten: another is faster beyond doubt and tolerance; failed: it has no time; "
       "unknown: the run was stopped",
       0, Shown::everywhere,
       [](const WinnerCheck& c) { return FieldValue{std::string(verdict_name(c.verdict))}; }},
      {"winner", "winner", "of the file", 0, Shown::everywhere,
       [](const WinnerCheck& c) { return FieldValue{c.winner}; }},
      {"winner_us", "us", "its median", 1, Shown::everywhere,
       [](const WinnerCheck& c) { return number_or_none(c.winner_us); }},
      {"behind_percent", "behind %", "by how much it is slower than the fastest", 2,
       Shown::everywhere, behind_percent},
      {"fastest", "fastest", "of all", 0, Shown::everywhere,
       [](const WinnerCheck& c) { return text_or_none(c.fastest); }},
      {"fastest_us", "us", "its median", 1, Shown::everywhere,
       [](const WinnerCheck& c) { return number_or_none(c.fastest_us); }},
      {"detail", "detail", "why it failed", 0, Shown::everywhere,
       [](const WinnerCheck& c) { return text_or_none(c.detail); }},
  };
  return fields;
}

std::string print_winner_checks(const std::vector<WinnerCheck>& checks, OutputFormat format) {
  if (format == OutputFormat::json) {
    Json json = {{"format", "fatune.verify_winner"}, {"format_version", 1}};
    json["winners"] = json_rows(winner_check_fields(), checks);
    return json_text(json);
  }
  return print_rows(winner_check_fields(), checks, format);
}

}  // namespace fatune
