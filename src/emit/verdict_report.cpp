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

const std::vector<Field<RivalCheck>>& rival_check_fields() {
  using C = RivalCheck;
  static const std::vector<Field<C>> fields{
      {"verdict", "verdict", doc_of<RivalCheck>("verdict"), 0, kEverywhere,
       [](const C& c) { return std::string(enum_name(c.verdict)); }},
      {"problem", "problem", doc_of<RivalCheck>("problem"), 0, kEverywhere,
       [](const C& c) { return describe_run(c.problem, c.run); },
       ColumnFit{.least = 14, .once = true}},
      {"run", "run", doc_of<RivalCheck>("run"), 0, kForPrograms, member<&C::run>},
      {"config", "config", doc_of<RivalCheck>("config"), 0, kEverywhere,
       [](const C& c) { return text_or_none(c.config); }, ColumnFit{.least = 24, .config = true}},
      {"family", "family", doc_of<RivalCheck>("family"), 0, kForPrograms,
       [](const C& c) { return text_or_none(c.family); }},
      {"rival", "against", doc_of<RivalCheck>("rival"), 0, kEverywhere,
       [](const C& c) { return text_or_none(c.rival); },
       ColumnFit{.leaves = 4, .least = 24, .config = true}},
      {"rank", "rank", doc_of<RivalCheck>("rank"), 0, kEverywhere, unless_zero<&C::rank>,
       ColumnFit{.leaves = 1}},
      {"rival_rank", "old rank", doc_of<RivalCheck>("rival_rank"), 0, kForPrograms,
       unless_zero<&C::rival_rank>},
      {"time_us", "us", doc_of<RivalCheck>("time_us"), 1, kEverywhere, member<&C::time_us>,
       ColumnFit{.leaves = 2}},
      {"rival_us", "against us", doc_of<RivalCheck>("rival_us"), 1, kEverywhere,
       member<&C::rival_us>, ColumnFit{.leaves = 3}},
      {"slower_percent", "slower %", doc_of<RivalCheck>("slower_percent"), 2, kEverywhere,
       slower_by<&SlowerBy::percent>},
      {"least_percent", "from", doc_of<RivalCheck>("least_percent"), 2, kEverywhere,
       slower_by<&SlowerBy::least>},
      {"greatest_percent", "to", doc_of<RivalCheck>("greatest_percent"), 2, kEverywhere,
       slower_by<&SlowerBy::greatest>},
      {"rounds", "rounds", doc_of<RivalCheck>("rounds"), 0, kForPrograms, unless_zero<&C::rounds>},
      {"file_us", "file us", doc_of<RivalCheck>("file_us"), 1, kForPrograms, member<&C::file_us>},
      {"since_file_percent", "since file %", doc_of<RivalCheck>("since_file_percent"), 1,
       kEverywhere, member<&C::since_file_percent>, ColumnFit{.leaves = 5}},
      {"doubt", "doubt", doc_of<RivalCheck>("doubt"), 0, kEverywhere,
       [](const C& c) { return text_or_none(enum_name(c.doubt)); }, kWraps},
      {"why", "why", doc_of<RivalCheck>("why"), 0, kEverywhere,
       [](const C& c) { return text_or_none(c.why); }, kWraps},
  };
  return fields;
}

Json verdict_summary_json(const std::vector<RivalCheck>& checks) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    counts[std::string(enum_name(static_cast<Verdict>(i)))] = count_of(checks, i);
  }
  return {{"worse", is_worse(checks)}, {"counts", std::move(counts)}};
}

}  // namespace fatune
