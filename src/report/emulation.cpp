#include "report/emulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/ranges.hpp"
#include "core/text_parts.hpp"

namespace fatune {

std::vector<std::string> all_emulation_checks() {
  return {kEmulationChecks.begin(), kEmulationChecks.end()};
}

std::string title(const EmulatedFinding& finding) {
  return finding.check == finding.kind
             ? fmt::format("{}: {}", finding.check, finding.text)
             : fmt::format("{}: {}: {}", finding.check, finding.kind, finding.text);
}

std::vector<std::string> parse_emulation_checks(std::string_view text) {
  if (text == "all") {
    return all_emulation_checks();
  }
  std::vector<std::string_view> named;
  do {
    const std::string_view name = take_until(text, ',');
    if (!is_among(name, kEmulationChecks)) {
      throw Error(ExitCode::usage, fmt::format("'{}' is not a check", name), "--check",
                  fmt::format("choose from {}, or all", fmt::join(kEmulationChecks, ", ")));
    }
    named.push_back(name);
  } while (!text.empty());
  std::vector<std::string> checks;
  for (const std::string_view check : kEmulationChecks) {
    if (is_among(check, named)) {
      checks.emplace_back(check);
    }
  }
  return checks;
}

}  // namespace fatune
