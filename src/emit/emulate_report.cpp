#include "emit/emulate_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emit/print_rows.hpp"

namespace fatune {
namespace {

constexpr std::size_t kHottest = 15;
// One mistake shows at many instructions: the first ones tell.
constexpr std::size_t kFindingsShown = 5;

Json json_parts(const std::optional<EmulatedProfile>& profile,
                std::vector<EmulatedPart> EmulatedProfile::*parts) {
  return profile ? json_rows(emulated_part_fields(), (*profile).*parts) : Json();
}

Json json_config(const EmulatedConfig& config) {
  Json json = json_object(emulated_config_fields(), config);
  json["findings"] = json_rows(emulated_finding_fields(), config.findings);
  json["opcodes"] = json_parts(config.profile, &EmulatedProfile::opcodes);
  json["lines"] = json_parts(config.profile, &EmulatedProfile::lines);
  return json;
}

std::string print_json(const EmulateReport& report) {
  Json json = {{"format", "fatune.emulate"}, {"format_version", 1}, {"measured", false}};
  json["family"] = report.family;
  json["space"] = report.space.empty() ? Json() : Json(report.space);
  json["arch"] = arch_name(report.arch);
  json["toolchain"] = report.toolchain;
  json["schedules"] = report.schedules;
  json["inputs"] = report.inputs;
  json["seed"] = report.seed;
  json["checks"] = report.checks;
  json["configs"] = Json::array();
  for (const EmulatedConfig& config : report.configs) {
    json["configs"].push_back(json_config(config));
  }
  return json_text(json);
}

std::string headline(const EmulateReport& report) {
  return fmt::format(
      "EMULATED on the CPU, not timed: PTX of {} for {}; schedules {}; inputs {}; seed {}; {}\n\n",
      report.toolchain, arch_name(report.arch), fmt::join(report.schedules, ", "),
      fmt::join(report.inputs, ", "), report.seed,
      report.checks ? "all checks" : "no checks of races and uninitialised reads");
}

std::string count_text(const EmulateReport& report) {
  const auto count = [&](const char* outcome) {
    return std::count_if(report.configs.begin(), report.configs.end(),
                         [&](const EmulatedConfig& c) { return c.outcome == outcome; });
  };
  const auto right = count("right");
  const auto wrong = count("wrong_result") + count("flagged");
  const auto all = static_cast<std::ptrdiff_t>(report.configs.size());
  std::string text = right == all ? fmt::format("\nall {} right\n", all)
                                  : fmt::format("\n{} of {} right", right, all);
  if (right != all) {
    text += fmt::format(", {} WRONG or FLAGGED, {} not emulated\n", wrong, all - right - wrong);
  }
  return text;
}

std::string describe(const EmulatedFinding& finding) {
  std::string text = fmt::format("\n{}: {}: {}\n", finding.check, finding.kind, finding.text);
  if (finding.ptx_line != 0) {
    text +=
        fmt::format("  at {}\n  PTX line {}: {}\n  block {}, thread {}; ",
                    finding.source.empty() ? "no known source line" : chain_text(finding.source),
                    finding.ptx_line, finding.ptx, finding.block, finding.thread);
  } else {
    text += "  ";
  }
  return text + fmt::format("{} times, first with schedule {} on {} inputs\n", finding.count,
                            finding.schedule, finding.input);
}

std::string findings_of(const EmulatedConfig& config) {
  if (config.findings.empty()) {
    return {};
  }
  std::string text = fmt::format("\n{}\n", config.config);
  const std::size_t shown = std::min(config.findings.size(), kFindingsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    text += describe(config.findings[i]);
  }
  if (shown < config.findings.size()) {
    text +=
        fmt::format("\nand {} more, which --format json lists\n", config.findings.size() - shown);
  }
  return text;
}

std::string findings_text(const EmulateReport& report) {
  std::string text;
  for (const EmulatedConfig& config : report.configs) {
    text += findings_of(config);
  }
  return text;
}

std::string hottest_text(const char* title, const std::vector<EmulatedPart>& parts,
                         OutputFormat format) {
  const std::size_t shown = std::min(parts.size(), kHottest);
  const std::vector<EmulatedPart> first(parts.begin(),
                                        parts.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("\n{}: {} of {}, by thread instructions\n\n", title, shown, parts.size()) +
         print_rows(emulated_part_fields(), first, format);
}

/// Of one configuration alone: of several it would be much, and JSON has it.
std::string profile_text(const EmulateReport& report, OutputFormat format) {
  if (report.configs.size() != 1 || !report.configs.front().profile) {
    return {};
  }
  const EmulatedProfile& profile = *report.configs.front().profile;
  return hottest_text("Source lines", profile.lines, format) +
         hottest_text("Opcodes", profile.opcodes, format);
}

}  // namespace

std::string print_emulate_report(const EmulateReport& report, OutputFormat format) {
  if (format == OutputFormat::json) {
    return print_json(report);
  }
  const std::string rows = print_rows(emulated_config_fields(), report.configs, format);
  if (format == OutputFormat::csv) {
    return rows;
  }
  return headline(report) + rows + count_text(report) + findings_text(report) +
         profile_text(report, format);
}

}  // namespace fatune
