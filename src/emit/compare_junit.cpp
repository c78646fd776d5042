#include "emit/compare_junit.hpp"

#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "core/visible_text.hpp"

namespace fatune {
namespace {

using Node = pugi::xml_node;

/// Sets an attribute. pugixml escapes markup; characters that XML cannot represent are replaced.
void set(Node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(visible_text(value).c_str());
}

void set_count(Node node, const char* name, std::size_t count) {
  node.append_attribute(name).set_value(fmt::format("{}", count).c_str());
}

enum class CaseVerdict { passed, failed, skipped };

CaseVerdict verdict_of(const RunComparison& comparison, const ComparedConfig& config) {
  const bool is_unknown = config.change == Change::gone || config.change == Change::failing ||
                          config.change == Change::undecided;
  return is_worse(comparison, config)                        ? CaseVerdict::failed
         : is_unknown || comparison.refusal != Refusal::none ? CaseVerdict::skipped
                                                             : CaseVerdict::passed;
}

std::string message_of(const ComparedConfig& config) {
  std::string text{change_name(config.change)};
  if (config.beyond && config.new_us && config.old_us) {
    text +=
        fmt::format(": {:.1f} us, was {:.1f} us; without the drift {:+.1f} % ({:+.1f} to {:+.1f})",
                    *config.new_us, *config.old_us, percent_of(config.beyond->log_ratio),
                    percent_of(config.beyond->low), percent_of(config.beyond->high));
  }
  const std::string detail = detail_of(config);
  return detail.empty() ? text : text + ": " + detail;
}

void add_case(Node suite, const RunComparison& comparison, const ComparedConfig& config) {
  Node test = suite.append_child("testcase");
  set(test, "classname", config.family);
  set(test, "name", config.config);
  if (config.new_us) {
    constexpr double kUsPerSecond = 1e6;
    set(test, "time", fmt::format("{:.9f}", *config.new_us / kUsPerSecond));
  }
  const CaseVerdict verdict = verdict_of(comparison, config);
  if (verdict == CaseVerdict::passed) {
    test.append_child("system-out").text().set(visible_text(message_of(config)).c_str());
    return;
  }
  Node why = test.append_child(verdict == CaseVerdict::failed ? "failure" : "skipped");
  set(why, "type", std::string(change_name(config.change)));
  set(why, "message", message_of(config));
}

void add_property(Node properties, const char* name, const std::string& value) {
  Node property = properties.append_child("property");
  set(property, "name", name);
  set(property, "value", value);
}

void add_properties(Node suite, const CompareReport& report, const ComparedProblem& problem) {
  Node properties = suite.append_child("properties");
  add_property(properties, "old", report.old_run.name);
  add_property(properties, "new", report.new_run.name);
  add_property(properties, "device", report.new_run.report.device.name);
  add_property(properties, "drift_percent",
               fmt::format("{:.2f}", percent_of(problem.movement.log_drift)));
  add_property(properties, "tolerance_percent",
               fmt::format("{}", report.comparison.tolerance_percent));
}

struct CaseCounts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skipped = 0;
};

void add_to_counts(CaseVerdict verdict, CaseCounts& counts) {
  ++counts.tests;
  counts.failures += verdict == CaseVerdict::failed ? 1U : 0U;
  counts.skipped += verdict == CaseVerdict::skipped ? 1U : 0U;
}

void set_counts(Node node, const CaseCounts& counts) {
  set_count(node, "tests", counts.tests);
  set_count(node, "failures", counts.failures);
  set_count(node, "errors", 0);
}

CaseCounts add_suite(Node suites, const CompareReport& report, std::size_t number) {
  const RunComparison& comparison = report.comparison;
  Node suite = suites.append_child("testsuite");
  set(suite, "name", describe(comparison.problems[number]));
  add_properties(suite, report, comparison.problems[number]);
  CaseCounts counts;
  for (const ComparedConfig& config : comparison.configs) {
    if (config.problem == number) {
      add_case(suite, comparison, config);
      add_to_counts(verdict_of(comparison, config), counts);
    }
  }
  set_counts(suite, counts);
  set_count(suite, "skipped", counts.skipped);
  return counts;
}

/// A suite with one skipped case, for a problem that NEW lacks.
void add_missing(Node suites, const ComparedProblem& problem, CaseCounts& all) {
  Node suite = suites.append_child("testsuite");
  set(suite, "name", describe(problem));
  Node test = suite.append_child("testcase");
  set(test, "classname", "fatune");
  set(test, "name", "problem");
  Node why = test.append_child("skipped");
  set(why, "type", "missing");
  set(why, "message", "missing: NEW lacks the problem");
  const CaseCounts counts{1, 0, 1};
  set_counts(suite, counts);
  set_count(suite, "skipped", counts.skipped);
  all.tests += counts.tests;
}

}  // namespace

std::string compare_junit(const CompareReport& report) {
  pugi::xml_document document;
  Node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  Node suites = document.append_child("testsuites");
  set(suites, "name", "fatune compare");
  CaseCounts all;
  for (std::size_t i = 0; i < report.comparison.problems.size(); ++i) {
    const CaseCounts counts = add_suite(suites, report, i);
    all.tests += counts.tests;
    all.failures += counts.failures;
  }
  for (const ComparedProblem& problem : report.comparison.missing) {
    add_missing(suites, problem, all);
  }
  set_counts(suites, all);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace fatune
