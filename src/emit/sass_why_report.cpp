#include "emit/sass_why_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emit/coverage.hpp"

namespace fatune {
namespace {

using Sample = SassWhyReport::Sample;

constexpr const char* kEffectFamily = "family";

/// A row of the CSV: one count of one configuration.
struct CountRow {
  std::string config;
  std::string what;
  double per_mflop;
};

Fields<CountRow> count_fields() {
  return {
      {"config", "config", &CountRow::config},
      {"what", "class", &CountRow::what},
      {"per_mflop", "per MFLOP", Look{.decimals = 1}, &CountRow::per_mflop},
  };
}

std::vector<CountRow> rows_of(const Sample& sample) {
  std::vector<CountRow> rows{{sample.short_form, "all", sample.counts.all}};
  for (std::size_t i = 0; i < kOpcodeClasses; ++i) {
    rows.push_back(
        {sample.short_form, std::string(opcode_classes().at(i).name), sample.counts.classes.at(i)});
  }
  return rows;
}

Table counts_of(const SassWhyReport& report) {
  std::vector<CountRow> rows;
  for (const Sample& sample : report.samples) {
    const std::vector<CountRow> more = rows_of(sample);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return table_of(count_fields(), rows);
}

Json json_sample(const Sample& sample) {
  Json counts = Json::object();
  for (const CountRow& row : rows_of(sample)) {
    counts[row.what] = json_value(row.per_mflop);
  }
  return {{"config", sample.short_form}, {"per_mflop", std::move(counts)}};
}

Json json_problem(const WhyProblem& problem) {
  return {{"problem", problem.problem},
          {"correlations", json_rows(correlation_fields(), problem.correlations)}};
}

Json json_why(const SassWhyReport& report) {
  Json json = json_head("sass_why");
  json["complete"] = report.coverage.complete;
  json["family"] = report.family;
  json["space"] = report.space;
  json["target"] = report.target;
  json["run"] = report.run ? Json(*report.run) : Json();
  json["device"] = report.device.empty() ? Json() : Json(report.device);
  json["confidence"] = json_value(report.confidence);
  json["left_out"] = report.left_out;
  json["other_code"] = report.other_code;
  json["configs"] = json_list(report.samples, json_sample);
  json["effects"] = json_rows(effect_fields(), report.effects);
  json["problems"] =
      json_list(report.problems, [](const WhyProblem& problem) { return json_problem(problem); });
  return json;
}

Blocks headline(const SassWhyReport& report) {
  Blocks blocks{block::Line{fmt::format("{} {} for {}: {} configurations, {} left out",
                                        report.family, report.space, report.target,
                                        report.samples.size(), report.left_out)}};
  if (report.other_code > 0) {
    blocks.push_back(block::Line{fmt::format(
        "NOTE: {} kernels of the run have different code from that compiled now (compiler or "
        "sources have changed)",
        report.other_code)});
  }
  return blocks;
}

Blocks effects_of(const SassWhyReport& report, std::size_t top) {
  Fields<ParameterEffect> fields = effect_fields();
  if (std::ranges::all_of(report.effects, [&](const ParameterEffect& effect) {
        return effect.family == report.family;
      })) {
    std::erase_if(fields, [](const auto& field) { return field.name == kEffectFamily; });
  }
  return {block::Text{"\nWhat a parameter changes: instructions of a warp in the main loop for "
                      "10^6 tensor FLOP\n\n"},
          first_rows(fields, report.effects, top)};
}

Blocks problem_of(const SassWhyReport& report, const WhyProblem& problem) {
  Blocks blocks{
      block::Text{"\n"},
      block::Line{fmt::format("What correlates with the time: {} on {}, {:.0f} % intervals",
                              problem.problem, report.device, 100.0 * report.confidence)},
      block::Text{"\n"}};
  if (problem.correlations.empty()) {
    blocks.push_back(block::Text{"too few configurations, or all have the same counts\n"});
  } else {
    blocks.push_back(block::Rows{table_of(correlation_fields(), problem.correlations)});
  }
  return blocks;
}

Blocks blocks_of(const SassWhyReport& report, std::size_t top) {
  Blocks blocks = headline(report);
  append(blocks, effects_of(report, top));
  for (const WhyProblem& problem : report.problems) {
    append(blocks, problem_of(report, problem));
  }
  if (!report.measured) {
    blocks.push_back(block::Text{"\n"});
    blocks.push_back(block::Warning{
        "NOT MEASURED: the run's times are estimates, computed from instruction counts; a "
        "correlation with them would say nothing about a GPU"});
  }
  blocks.push_back(block::Text{incomplete_text(report.coverage)});
  return blocks;
}

}  // namespace

Fields<ParameterEffect> effect_fields() {
  using E = ParameterEffect;
  return {
      {kEffectFamily, "family", &ParameterEffect::family},
      {"parameter", "parameter", Look{.least = 16}, &E::parameter},
      {"from", "from", &E::from},
      {"to", "to", &E::to},
      {"class", "class", [](const E& e) { return class_name(e.which); }},
      {"pairs", "pairs", &E::pairs},
      {"mean_before", "before", Look{.decimals = 1, .leaves = 1}, &E::mean_before},
      {"mean_difference", "difference", Look{.decimals = 1}, &E::mean_difference},
  };
}

Fields<ClassCorrelation> correlation_fields() {
  using C = ClassCorrelation;
  return {
      {"what", "class", &C::what},
      {"configs", "configs", &C::configs},
      {"spearman", "spearman", Look{.decimals = 2},
       [](const C& c) { return c.correlation.spearman; }},
      {"low", "low", Look{.decimals = 2}, [](const C& c) { return c.correlation.low; }},
      {"high", "high", Look{.decimals = 2}, [](const C& c) { return c.correlation.high; }},
      {"share_percent", "share %", [](const C& c) { return c.correlation.share_percent(); }},
  };
}

Document sass_why_document(const SassWhyReport& report, std::size_t top) {
  return {[&report, top] { return blocks_of(report, top); }, [&] { return counts_of(report); },
          [&] { return json_why(report); }};
}

}  // namespace fatune
