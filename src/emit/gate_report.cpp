#include "emit/gate_report.hpp"
#include "record/record_json.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::array kVerdicts{GateVerdict::slower, GateVerdict::failed, GateVerdict::undecided,
                               GateVerdict::equal,  GateVerdict::faster, GateVerdict::no_rival};

template <double MedianInterval::*kEnd>
const auto change_percent = [](const GateCheck& check) {
  return check.ratio ? std::optional(100.0 * (*check.ratio.*kEnd - 1.0)) : std::nullopt;
};

Json json_gate_check(const GateCheck& check) {
  Json json = json_object(gate_fields(), check);
  json["problem"] = record_json(check.problem);
  return json;
}

}  // namespace

std::string_view verdict_name(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::equal:
      return "equal";
    case GateVerdict::faster:
      return "faster";
    case GateVerdict::slower:
      return "slower";
    case GateVerdict::undecided:
      return "undecided";
    case GateVerdict::failed:
      return "failed";
    case GateVerdict::no_rival:
      break;
  }
  return "no rival";
}

const std::vector<Field<GateCheck>>& gate_fields() {
  using C = GateCheck;
  static const std::vector<Field<C>> fields{
      {"problem", "problem", "the problem that winner and rival were measured on", 0, kEverywhere,
       [](const C& c) { return describe(c.problem); }, ColumnFit{.least = 14}},
      {"winner", "winner",
       "short form of this run's fastest configuration; null: nothing is ranked", 0, kEverywhere,
       [](const C& c) { return text_or_none(c.winner); }, ColumnFit{.least = 24, .config = true}},
      {"verdict", "verdict",
       "verdict on the winner compared with the rival: equal, faster, slower, undecided, failed or "
       "no rival",
       0, kEverywhere, [](const C& c) { return std::string(verdict_name(c.verdict)); }},
      {"rival", "against",
       "short form of what the winner was raced against, with the version of its sources; null: "
       "there is none",
       0, kEverywhere, [](const C& c) { return text_or_none(c.rival); },
       ColumnFit{.least = 24, .config = true}},
      {"least_percent", "from %",
       "by how many percent the winner is slower than the rival at least: lower end of the "
       "interval; negative: faster; null: there is no interval",
       2, kEverywhere, change_percent<&MedianInterval::low>},
      {"greatest_percent", "to %",
       "by how many percent the winner is slower than the rival at most: upper end of the "
       "interval; negative: faster; null: there is no interval",
       2, kEverywhere, change_percent<&MedianInterval::high>},
      {"winner_us", "us", "median time of the winner against the rival in microseconds; null: none",
       1, kEverywhere, member<&C::winner_us>},
      {"rival_us", "against us",
       "median time of the rival against the winner in microseconds; null: none", 1, kEverywhere,
       member<&C::rival_us>},
      {"rounds", "rounds", "number of rounds in which both winner and rival gave a sample", 0,
       kEverywhere, [](const C& c) { return c.rounds; }},
      {"why", "why",
       "why there is no interval, or why the winner is not the first of the ranking; null: neither",
       0, kEverywhere, [](const C& c) { return text_or_none(c.why); }},
  };
  return fields;
}

Json json_gate(const GateReport& gate) {
  return {{"against", gate.against},
          {"tolerance_percent", json_value(gate.tolerance_percent)},
          {"worse", is_worse(gate)},
          {"checks", json_list(gate.checks, json_gate_check)}};
}

Table gate_table(const GateReport& gate) { return table_of(gate_fields(), gate.checks); }

std::string gate_sentence(const GateReport& gate) {
  std::string sentence;
  for (const GateVerdict verdict : kVerdicts) {
    const auto count = std::ranges::count(gate.checks, verdict, &GateCheck::verdict);
    if (count > 0) {
      sentence +=
          fmt::format("{}{} {}", sentence.empty() ? "" : ", ", count, verdict_name(verdict));
    }
  }
  return sentence;
}

}  // namespace fatune
