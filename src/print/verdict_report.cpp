#include "print/comparisons.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "model/record_json.hpp"

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

using Node = pugi::xml_node;

/// Sets an attribute. pugixml escapes markup; characters that XML cannot represent are replaced.
void set(Node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(visible_text(value).c_str());
}

struct CaseCounts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
};

void set_counts(Node node, const CaseCounts& counts) {
  set(node, "tests", std::to_string(counts.tests));
  set(node, "failures", std::to_string(counts.failures));
  set(node, "errors", "0");
}

bool is_skipped(const RivalCheck& check) {
  return check.verdict == Verdict::undecided || check.verdict == Verdict::gone ||
         check.verdict == Verdict::failing;
}

std::string message_of(const RivalCheck& check) {
  std::string text{enum_name(check.verdict)};
  if (!check.rival.empty()) {
    text += " against " + check.rival;
  }
  if (check.time_us && check.rival_us) {
    text += fmt::format("; {:.1f} us against {:.1f} us", *check.time_us, *check.rival_us);
  }
  if (check.slower_by) {
    text += fmt::format(", {:+.2f} % ({:+.2f} to {:+.2f})", check.slower_by->percent,
                        check.slower_by->least, check.slower_by->greatest);
  }
  for (const std::string_view more : {enum_name(check.doubt), std::string_view(check.why)}) {
    text.append(more.empty() ? "" : "; ").append(more);
  }
  return text;
}

void add_case(Node suite, const RivalCheck& check, CaseCounts& counts) {
  Node test = suite.append_child("testcase");
  set(test, "classname", check.family);
  set(test, "name", check.config.empty() ? "winner" : check.config);
  if (check.time_us) {
    constexpr double kUsPerSecond = 1e6;
    set(test, "time", fmt::format("{:.9f}", *check.time_us / kUsPerSecond));
  }
  ++counts.tests;
  counts.failures += is_worse(check) ? 1U : 0U;
  counts.skipped += is_skipped(check) ? 1U : 0U;
  if (!is_worse(check) && !is_skipped(check)) {
    test.append_child("system-out").text().set(visible_text(message_of(check)).c_str());
    return;
  }
  Node why = test.append_child(is_worse(check) ? "failure" : "skipped");
  set(why, "type", std::string(enum_name(check.verdict)));
  set(why, "message", message_of(check));
}

void add_properties(Node suite, const JunitProperties& properties) {
  Node list = suite.append_child("properties");
  for (const auto& [name, value] : properties) {
    Node property = list.append_child("property");
    set(property, "name", name);
    set(property, "value", value);
  }
}

void add_suite(Node suites, const std::string& problem, const JunitProperties& properties,
               const std::vector<const RivalCheck*>& checks, CaseCounts& all) {
  Node suite = suites.append_child("testsuite");
  set(suite, "name", problem);
  add_properties(suite, properties);
  CaseCounts counts;
  for (const RivalCheck* const check : checks) {
    add_case(suite, *check, counts);
  }
  set_counts(suite, counts);
  set(suite, "skipped", std::to_string(counts.skipped));
  all.tests += counts.tests;
  all.failures += counts.failures;
}

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
      {"problem", "problem", kWraps, [](const C& c) { return describe_run(c.problem, c.run); }},
      {"run", "run", kProgramsOnly, &C::run},
      {"config", "config", kWraps, or_none<&C::config>},
      {"family", "family", kProgramsOnly, or_none<&C::family>},
      {"rival", "against", kWraps, or_none<&C::rival>},
      {"rank", "rank", or_none<&C::rank>},
      {"rival_rank", "old rank", kProgramsOnly, or_none<&C::rival_rank>},
      {"time_us", "us", Look{.decimals = 1}, &C::time_us},
      {"rival_us", "against us", Look{.decimals = 1}, &C::rival_us},
      {"slower_percent", "slower %", Look{.decimals = 2}, slower_by<&SlowerBy::percent>},
      {"least_percent", "from", Look{.decimals = 2}, slower_by<&SlowerBy::least>},
      {"greatest_percent", "to", Look{.decimals = 2}, slower_by<&SlowerBy::greatest>},
      {"rounds", "rounds", kProgramsOnly, or_none<&C::rounds>},
      {"file_us", "file us", Look{.decimals = 1, .shown = kForPrograms}, &C::file_us},
      {"since_file_percent", "since file %", Look{.decimals = 1}, &C::since_file_percent},
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

std::string verdicts_junit(const std::string& name, const JunitProperties& properties,
                           const std::vector<RivalCheck>& checks) {
  std::map<std::string, std::vector<const RivalCheck*>> problems;
  for (const RivalCheck& check : checks) {
    problems[describe_run(check.problem, check.run)].push_back(&check);
  }
  pugi::xml_document document;
  Node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  Node suites = document.append_child("testsuites");
  set(suites, "name", name);
  CaseCounts all;
  for (const auto& [problem, of_problem] : problems) {
    add_suite(suites, problem, properties, of_problem, all);
  }
  set_counts(suites, all);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

std::string gate_junit(const RunReport& report) {
  const GateReport& gate = *report.gate;
  return verdicts_junit("fatune",
                        {{"winners", gate.of.empty() ? "this run's" : gate.of},
                         {"against", gate.against},
                         {"device", report.device.name},
                         {"tolerance_percent", fmt::format("{}", gate.tolerance_percent)}},
                        gate.checks);
}

}  // namespace fatune
