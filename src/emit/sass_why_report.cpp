#include "emit/sass_why_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emit/coverage_text.hpp"
#include "emit/print_rows.hpp"

namespace fatune {
namespace {

using Sample = SassWhyReport::Sample;

constexpr const char* kEffectFamily = "family";

/// One count of one configuration: CSV's row.
struct CountRow {
  std::string config;
  std::string what;
  double per_mflop;
};

const std::vector<Field<CountRow>>& count_fields() {
  static const std::vector<Field<CountRow>> fields{
      {"config", "config", "the configuration's short form", 0, kEverywhere,
       [](const CountRow& r) { return FieldValue{r.config}; }},
      {"what", "class", "a class, or all", 0, kEverywhere,
       [](const CountRow& r) { return FieldValue{r.what}; }},
      {"per_mflop", "per MFLOP", "instructions of a warp in the main loop for 10^6 tensor FLOP", 1,
       kEverywhere, [](const CountRow& r) { return FieldValue{r.per_mflop}; }},
  };
  return fields;
}

std::vector<CountRow> rows_of(const Sample& sample) {
  std::vector<CountRow> rows{{sample.short_form, "all", sample.counts.all}};
  for (std::size_t i = 0; i < kOpcodeClasses; ++i) {
    rows.push_back(
        {sample.short_form, std::string(opcode_classes().at(i).name), sample.counts.classes.at(i)});
  }
  return rows;
}

std::string print_csv(const SassWhyReport& report) {
  std::vector<CountRow> rows;
  for (const Sample& sample : report.samples) {
    const std::vector<CountRow> more = rows_of(sample);
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return print_rows(count_fields(), rows, OutputFormat::csv);
}

Json json_sample(const Sample& sample) {
  Json counts = Json::object();
  for (const CountRow& row : rows_of(sample)) {
    counts[row.what] = json_value(row.per_mflop);
  }
  return {{"config", sample.short_form}, {"per_mflop", std::move(counts)}};
}

std::string print_json(const SassWhyReport& report) {
  Json json = {{"format", "fatune.sass_why"},
               {"format_version", 1},
               {"complete", report.coverage.complete},
               {"family", report.family},
               {"space", report.space},
               {"target", report.target},
               {"run", report.run ? Json(*report.run) : Json()},
               {"device", report.device.empty() ? Json() : Json(report.device)},
               {"confidence", json_value(report.confidence)},
               {"left_out", report.left_out},
               {"other_code", report.other_code}};
  json["configs"] = Json::array();
  for (const Sample& sample : report.samples) {
    json["configs"].push_back(json_sample(sample));
  }
  json["effects"] = json_rows(effect_fields(), report.effects);
  json["problems"] = Json::array();
  for (const WhyProblem& problem : report.problems) {
    json["problems"].push_back(
        {{"problem", problem.problem},
         {"correlations", json_rows(correlation_fields(), problem.correlations)}});
  }
  return json_text(json);
}

std::string headline(const SassWhyReport& report) {
  std::string text =
      fmt::format("{} {} for {}: {} configurations, {} left out\n", report.family, report.space,
                  report.target, report.samples.size(), report.left_out);
  if (report.other_code > 0) {
    text += fmt::format(
        "NOTE: {} measured kernels have other code than the one compiled now (compiler or sources "
        "have changed)\n",
        report.other_code);
  }
  return text;
}

std::string print_effects(const SassWhyReport& report, const Page& page, std::size_t top) {
  std::vector<ParameterEffect> effects = report.effects;
  const std::size_t all = effects.size();
  if (top > 0 && top < all) {
    effects.resize(top);
  }
  std::vector<Field<ParameterEffect>> fields = effect_fields();
  if (std::all_of(effects.begin(), effects.end(),
                  [&](const ParameterEffect& effect) { return effect.family == report.family; })) {
    std::erase_if(fields, [](const auto& field) { return field.name == kEffectFamily; });
  }
  std::string text =
      "\nWhat a parameter moves: instructions of a warp in the main loop for 10^6 tensor FLOP\n\n" +
      print_rows(fields, effects, page);
  return effects.size() == all
             ? text
             : text + fmt::format("... and {} more (--top 0 shows all)\n", all - effects.size());
}

std::string print_problems(const SassWhyReport& report, const Page& page) {
  std::string text;
  for (const WhyProblem& problem : report.problems) {
    text += fmt::format("\nWhat goes with the time: {} on {}, {:.0f} % intervals\n\n",
                        problem.problem, report.device, 100.0 * report.confidence);
    text += problem.correlations.empty()
                ? std::string("too few configurations, or all have the same counts\n")
                : print_rows(correlation_fields(), problem.correlations, page);
  }
  return text;
}

}  // namespace

const std::vector<Field<ParameterEffect>>& effect_fields() {
  using E = ParameterEffect;
  static const std::vector<Field<E>> fields{
      {kEffectFamily, "family", "whose parameter it is", 0, kEverywhere,
       [](const ParameterEffect& e) { return FieldValue{e.family}; }},
      {"parameter", "parameter", "the one that differs", 0, kEverywhere,
       [](const E& e) { return FieldValue{e.parameter}; }, ColumnFit{.least = 16}},
      {"from", "from", "its smaller value", 0, kEverywhere,
       [](const E& e) { return FieldValue{e.from}; }},
      {"to", "to", "its greater value", 0, kEverywhere,
       [](const E& e) { return FieldValue{e.to}; }},
      {"class", "class", "what it moves", 0, kEverywhere,
       [](const E& e) { return FieldValue{std::string(class_name(e.which))}; }},
      {"pairs", "pairs", "pairs of configurations that differ in this parameter alone", 0,
       kEverywhere, [](const E& e) { return FieldValue{e.pairs}; }},
      {"mean_before", "before", "mean count per MFLOP with the smaller value", 1, kEverywhere,
       [](const E& e) { return FieldValue{e.mean_before}; }, ColumnFit{.leaves = 1}},
      {"mean_difference", "difference", "mean of the greater value's count less the smaller's", 1,
       kEverywhere, [](const E& e) { return FieldValue{e.mean_difference}; }},
  };
  return fields;
}

const std::vector<Field<ClassCorrelation>>& correlation_fields() {
  using C = ClassCorrelation;
  static const std::vector<Field<C>> fields{
      {"what", "class", "a class, or all", 0, kEverywhere,
       [](const C& c) { return FieldValue{c.what}; }},
      {"configs", "configs", "configurations with a time", 0, kEverywhere,
       [](const C& c) { return FieldValue{c.configs}; }},
      {"spearman", "spearman", "rank correlation of count per MFLOP and time", 2, kEverywhere,
       [](const C& c) { return FieldValue{c.correlation.spearman}; }},
      {"low", "low", "lower end of its confidence interval", 2, kEverywhere,
       [](const C& c) { return FieldValue{c.correlation.low}; }},
      {"high", "high", "upper end of its confidence interval", 2, kEverywhere,
       [](const C& c) { return FieldValue{c.correlation.high}; }},
      {"share_percent", "share %",
       "part of the spread of the times' ranks that goes with this class: the square of spearman",
       0, kEverywhere, [](const C& c) { return FieldValue{c.correlation.share_percent()}; }},
  };
  return fields;
}

std::string print_sass_why(const SassWhyReport& report, const Page& page, std::size_t top) {
  if (page.format == OutputFormat::json) {
    return print_json(report);
  }
  if (page.format == OutputFormat::csv) {
    return print_csv(report);
  }
  return headline(report) + print_effects(report, page, top) + print_problems(report, page) +
         incomplete_text(report.coverage);
}

}  // namespace fatune
