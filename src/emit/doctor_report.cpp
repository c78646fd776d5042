#include "emit/doctor_report.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace fatune {
namespace {

std::string_view health_name(Health health) {
  static constexpr std::array<std::string_view, 3> kNames{"fine", "limited", "broken"};
  return kNames.at(static_cast<std::size_t>(health));
}

TextColour health_colour(Health health) {
  static constexpr std::array<TextColour, 3> kColours{TextColour::green, TextColour::yellow,
                                                      TextColour::red};
  return kColours.at(static_cast<std::size_t>(health));
}

Fields<Check> check_fields() {
  return {
      {"subject", "what", &Check::subject},
      {"health", "state", [](const Check& c) { return health_name(c.health); }},
      {"finding", "finding", &Check::finding},
      {"remedy", "remedy", or_none<&Check::remedy>},
  };
}

/// Findings are sentences: on a terminal, one paragraph per check reads better than a table of wide
/// columns.
block::Rows rows_of(const std::vector<Check>& checks) {
  block::Rows rows{table_of(check_fields(), checks)};
  for (const Check& check : checks) {
    auto& paragraph = rows.paragraphs.emplace_back();
    paragraph = {fmt::format("{:<8}", health_name(check.health)), health_colour(check.health),
                 fmt::format(" {}: {}\n", check.subject, check.finding)};
    if (!check.remedy.empty()) {
      paragraph.text += fmt::format("         -> {}\n", check.remedy);
    }
  }
  return rows;
}

}  // namespace

Document doctor_document(const std::vector<Check>& checks) {
  const auto object = [&] {
    Json json = json_head("doctor");
    json["checks"] = json_rows(check_fields(), checks);
    return json;
  };
  return {[&] { return Blocks{rows_of(checks)}; }, [&] { return table_of(check_fields(), checks); },
          object};
}

}  // namespace fatune
