#include "emit/verdict_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::array<std::string_view, kVerdicts> kNames{
    "failed", "slower", "faster", "repaired", "undecided", "equal", "gone", "added", "failing"};
constexpr std::array<std::string_view, kDoubts> kDoubtTexts{
    "",
    "both times are of one run",
    "the times are of different GPU models",
    "a time is an estimate",
    "a time is from an earlier run",
    "too few configurations are in both runs",
    "moved as all others did",
    "the interval is too wide",
    "too few samples",
    "the run or its budget ended before this was measured"};

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

Json json_rival_check(const RivalCheck& check) {
  Json json = json_object(rival_check_fields(), check);
  json["problem"] = json_problem(check.problem);
  return json;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view doubt_text(Doubt doubt) { return kDoubtTexts.at(static_cast<std::size_t>(doubt)); }

std::string counts_text(std::span<const RivalCheck> checks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (const std::ptrdiff_t count = count_of(checks, i); count > 0) {
      parts.push_back(fmt::format("{} {}", count, kNames[i]));
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
      {"verdict", "verdict",
       "whether the configuration is slower than its rival: failed: it has no time, and its rival "
       "has; slower, faster: by more than the tolerance, beyond doubt; repaired: it has a time, "
       "and its rival failed; undecided: the measurements do not tell; equal: the whole interval "
       "is within the tolerance, or both are the same; gone: only its rival was tried; added: it "
       "was tried, and there is no rival; failing: both failed",
       0, kEverywhere, [](const C& c) { return std::string(verdict_name(c.verdict)); }},
      {"problem", "problem", "the problem that was measured", 0, kEverywhere,
       [](const C& c) { return describe_run(c.problem, c.run); },
       ColumnFit{.least = 14, .once = true}},
      {"run", "run", "number of the repetition of the measurement, from 1", 0, kForPrograms,
       member<&C::run>},
      {"config", "config",
       "the configuration's short form, with the version of other sources; null: nothing was "
       "ranked",
       0, kEverywhere, [](const C& c) { return text_or_none(c.config); },
       ColumnFit{.least = 24, .config = true}},
      {"family", "family", "the configuration's kernel family; null: nothing was ranked", 0,
       kForPrograms, [](const C& c) { return text_or_none(c.family); }},
      {"rival", "against",
       "short form of the rival, with the version of other sources; null: there is none, or it is "
       "the same configuration in the earlier run",
       0, kEverywhere, [](const C& c) { return text_or_none(c.rival); },
       ColumnFit{.leaves = 4, .least = 24, .config = true}},
      {"rank", "rank", "rank of the configuration in its run; null: none", 0, kEverywhere,
       unless_zero<&C::rank>, ColumnFit{.leaves = 1}},
      {"rival_rank", "old rank", "rank of the configuration in the earlier run; null: none", 0,
       kForPrograms, unless_zero<&C::rival_rank>},
      {"time_us", "us", "median time of the configuration in microseconds; null: none", 1,
       kEverywhere, member<&C::time_us>, ColumnFit{.leaves = 2}},
      {"rival_us", "against us", "median time of the rival in microseconds; null: none", 1,
       kEverywhere, member<&C::rival_us>, ColumnFit{.leaves = 3}},
      {"slower_percent", "slower %",
       "by how many percent the configuration is slower than its rival, without the drift between "
       "two runs; negative: faster; null: not both were measured",
       2, kEverywhere, slower_by<&SlowerBy::percent>},
      {"least_percent", "from",
       "lower end of the confidence interval of slower_percent; the intervals of all checks hold "
       "together if they compare two runs",
       2, kEverywhere, slower_by<&SlowerBy::least>},
      {"greatest_percent", "to", "upper end of the confidence interval of slower_percent", 2,
       kEverywhere, slower_by<&SlowerBy::greatest>},
      {"rounds", "rounds",
       "number of rounds of a duel in which both gave a sample; null: there was no duel", 0,
       kForPrograms, unless_zero<&C::rounds>},
      {"file_us", "file us",
       "median time, in the file, of the winner that the file names, in microseconds; null: not "
       "known",
       1, kForPrograms, member<&C::file_us>},
      {"since_file_percent", "since file %",
       "by how many percent that winner is slower than in the file; heat may explain it, no "
       "verdict rests on it",
       1, kEverywhere, member<&C::since_file_percent>, ColumnFit{.leaves = 5}},
      {"doubt", "doubt", "why the verdict is undecided; null: it is decided", 0, kEverywhere,
       [](const C& c) { return text_or_none(doubt_text(c.doubt)); }, kWraps},
      {"why", "why", "a failure, or what else explains the verdict; null: nothing", 0, kEverywhere,
       [](const C& c) { return text_or_none(c.why); }, kWraps},
  };
  return fields;
}

Json verdicts_json(double tolerance_percent, const std::vector<RivalCheck>& checks) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    counts[std::string(kNames[i])] = count_of(checks, i);
  }
  return {{"tolerance_percent", json_value(tolerance_percent)},
          {"worse", is_worse(checks)},
          {"counts", std::move(counts)},
          {"checks", json_list(checks, json_rival_check)}};
}

}  // namespace fatune
