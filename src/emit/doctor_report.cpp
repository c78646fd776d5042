#include "emit/doctor_report.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "emit/colour.hpp"
#include "emit/print_rows.hpp"

namespace fatune {
namespace {

std::string_view health_name(Health health) {
  static constexpr std::array<std::string_view, 3> kNames{"fine", "limited", "broken"};
  return kNames.at(static_cast<std::size_t>(health));
}

Colour health_colour(Health health) {
  static constexpr std::array<Colour, 3> kColours{Colour::green, Colour::yellow, Colour::red};
  return kColours.at(static_cast<std::size_t>(health));
}

const std::vector<Field<Check>>& check_fields() {
  static const std::vector<Field<Check>> fields{
      {"subject", "what", "what was looked at", 0, Shown::everywhere,
       [](const Check& c) { return FieldValue{c.subject}; }},
      {"health", "state", "fine, limited or broken", 0, Shown::everywhere,
       [](const Check& c) { return FieldValue{std::string(health_name(c.health))}; }},
      {"finding", "finding", "what was found", 0, Shown::everywhere,
       [](const Check& c) { return FieldValue{c.finding}; }},
      {"remedy", "remedy", "what to do; null when nothing", 0, Shown::everywhere,
       [](const Check& c) { return c.remedy.empty() ? FieldValue{} : FieldValue{c.remedy}; }},
  };
  return fields;
}

/// Findings are sentences: one paragraph per check reads better than a table of wide columns.
std::string print_plain(const std::vector<Check>& checks, bool colour) {
  std::string text;
  for (const Check& check : checks) {
    const std::string state = fmt::format("{:<8}", health_name(check.health));
    text += fmt::format("{} {}: {}\n", coloured(state, health_colour(check.health), colour),
                        check.subject, check.finding);
    if (!check.remedy.empty()) {
      text += fmt::format("         -> {}\n", check.remedy);
    }
  }
  return text;
}

}  // namespace

std::string print_checks(const std::vector<Check>& checks, const Page& page, bool colour) {
  if (page.format == OutputFormat::table) {
    return print_plain(checks, colour);
  }
  if (page.format == OutputFormat::json) {
    Json json = {{"format", "fatune.doctor"}, {"format_version", 1}};
    json["checks"] = json_rows(check_fields(), checks);
    return json_text(json);
  }
  return print_rows(check_fields(), checks, page);
}

}  // namespace fatune
