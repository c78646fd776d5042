#include "model/sanitizer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

void add_named(std::string_view name, std::vector<SanitizerTool>& tools) {
  if (name != "all" && !find_enum<SanitizerTool>(name)) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a tool of compute-sanitizer", name),
                "--sanitizer", "memcheck, racecheck, synccheck, initcheck, several, or all");
  }
  for (const std::string_view each : kEnumNames<SanitizerTool>.names) {
    if (name == each || name == "all") {
      append_new(tools, parse_enum<SanitizerTool>(each));
    }
  }
}

std::string against_text(const std::vector<std::string>& against) {
  constexpr std::size_t kNamed = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(against.size(), kNamed); ++i) {
    text += " and " + against[i];
  }
  return against.size() > kNamed ? text + fmt::format(" and {} more", against.size() - kNamed)
                                 : text;
}

}  // namespace

std::vector<SanitizerTool> parse_sanitizer_tools(std::string_view text) {
  std::vector<SanitizerTool> tools;
  for (const std::string_view name : split_at(text, ',')) {
    add_named(name, tools);
  }
  return tools;
}

std::string describe(const SanitizerFinding& finding) {
  std::string text = finding.what;
  if (!finding.place.empty()) {
    text += " at " + finding.place;
  }
  if (!finding.against.empty()) {
    text += against_text(finding.against);
  }
  if (!finding.thread.empty()) {
    text += fmt::format(" by thread {} in block {}", finding.thread, finding.block);
  }
  if (!finding.detail.empty()) {
    text += ": " + finding.detail;
  }
  const char* const unit = finding.against.empty() ? "times" : "hazards";
  return finding.count > 1 ? fmt::format("{} ({} {})", text, finding.count, unit) : text;
}

}  // namespace fatune
