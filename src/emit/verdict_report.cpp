#include "emit/verdict_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/text_parts.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

std::ptrdiff_t count_of(std::span<const RivalCheck> checks, std::size_t number) {
  return std::ranges::count(checks, static_cast<Verdict>(number), &RivalCheck::verdict);
}

template <double SlowerBy::*kMember>
const auto slower_by = [](const RivalCheck& check) {
  return check.slower_by ? std::optional((*check.slower_by).*kMember) : std::nullopt;
};

template <auto kMember>
const auto unless_zero = [](const RivalCheck& check) {
  return check.*kMember > 0 ? std::optional(check.*kMember) : std::nullopt;
};

}  // namespace

std::string counts_text(std::span<const RivalCheck> checks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (const std::ptrdiff_t count = count_of(checks, i); count > 0) {
      parts.push_back(fmt::format("{} {}", count, enum_name(static_cast<Verdict>(i))));
    }
  }
  return parts.empty() ? "nothing to compare" : joined(parts, ", ");
}

std::string describe_run(const Problem& problem, int run) {
  return describe(problem) + (run == 1 ? std::string() : fmt::format(", run {}", run));
}

Fields<RivalCheck> rival_check_fields() {
  using C = RivalCheck;
  return {
      {"verdict", "verdict", [](const C& c) { return enum_name(c.verdict); }},
      {"problem", "problem", Look{.least = 14, .once = true},
       [](const C& c) { return describe_run(c.problem, c.run); }},
      {"run", "run", kProgramsOnly, &C::run},
      {"config", "config", Look{.least = 24, .config = true}, or_none<&C::config>},
      {"family", "family", kProgramsOnly, or_none<&C::family>},
      {"rival", "against", Look{.leaves = 4, .least = 24, .config = true}, or_none<&C::rival>},
      {"rank", "rank", Look{.leaves = 1}, or_none<&C::rank>},
      {"rival_rank", "old rank", kProgramsOnly, or_none<&C::rival_rank>},
      {"time_us", "us", Look{.decimals = 1, .leaves = 2}, &C::time_us},
      {"rival_us", "against us", Look{.decimals = 1, .leaves = 3}, &C::rival_us},
      {"slower_percent", "slower %", Look{.decimals = 2}, slower_by<&SlowerBy::percent>},
      {"least_percent", "from", Look{.decimals = 2}, slower_by<&SlowerBy::least>},
      {"greatest_percent", "to", Look{.decimals = 2}, slower_by<&SlowerBy::greatest>},
      {"rounds", "rounds", kProgramsOnly, or_none<&C::rounds>},
      {"file_us", "file us", Look{.decimals = 1, .shown = kForPrograms}, &C::file_us},
      {"since_file_percent", "since file %", Look{.decimals = 1, .leaves = 5},
       &C::since_file_percent},
      {"doubt", "doubt", kWraps, [](const C& c) { return text_or_none(enum_name(c.doubt)); }},
      {"why", "why", kWraps, or_none<&C::why>},
  };
}

Json verdict_summary_json(const std::vector<RivalCheck>& checks) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    counts[std::string(enum_name(static_cast<Verdict>(i)))] = count_of(checks, i);
  }
  return {{"worse", is_worse(checks)}, {"counts", std::move(counts)}};
}

}  // namespace fatune
