#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/visible_text.hpp"
#include "commands/sass/sass_reports.hpp"
#include "inspect/sass/listing_text.hpp"
#include "print/document/document.hpp"

namespace fatune {
namespace {

std::string main_loop_classes(const MapLineRow& row) {
  std::array<std::int64_t, kOpcodeClasses> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = row.count.classes[i].main_loop;
  }
  return classes_text(counts);
}

/// A field for each instruction class.
template <std::size_t... kClasses>
Fields<MapLineRow> class_fields(std::index_sequence<kClasses...> /*all*/) {
  return {{opcode_classes()[kClasses].name, opcode_classes()[kClasses].name, kProgramsOnly,
           [](const MapLineRow& r) { return r.count.classes[kClasses].main_loop; }}...};
}

Fields<MapLineRow> line_fields() {
  using R = MapLineRow;
  return {
      {"file", "file", [](const R& r) { return r.count.at.file; }},
      {"line", "line", [](const R& r) { return r.count.at.line; }},
      {"main_loop", "loop", [](const R& r) { return r.count.own.main_loop; }},
      {"main_loop_with_inlined", "loop+",
       [](const R& r) { return r.count.with_inlined.main_loop; }},
      {"conditional", "cond", [](const R& r) { return r.count.own.conditional; }},
      {"total", "total", [](const R& r) { return r.count.own.total; }},
      {"total_with_inlined", "total+", [](const R& r) { return r.count.with_inlined.total; }},
      {"classes", "classes in the loop", kWraps,
       [](const R& r) { return text_or_none(main_loop_classes(r)); }},
      {"text", "source", kWraps, or_none<&R::text>},
  };
}

Json json_selection(const MapSelection& selection) {
  return {{"what", selection.what},
          {"source", json_rows(map_line_fields(), selection.source)},
          {"ptx", json_rows(map_ptx_fields(), selection.ptx)},
          {"sass", json_rows(map_sass_fields(), selection.sass)}};
}

Json json_map(const SassMapReport& report) {
  Json json = json_head("sass_map");
  json["source"] = report.code.source;
  json["function"] = report.code.profile.function;
  json["target"] = report.code.profile.target;
  json["instructions"] = report.code.profile.all.total;
  json["main_loop_instructions"] = report.code.profile.all.main_loop;
  json["without_line"] = report.without_line.total;
  json["lines"] = json_rows(map_line_fields(), report.lines);
  json["selection"] = report.selection ? json_selection(*report.selection) : Json();
  return json;
}

std::string headline(const SassMapReport& report) {
  const SassProfile& profile = report.code.profile;
  return fmt::format("{} for {}: {} instructions, {} in the main loop; {} without a known line\n",
                     visible_line(report.code.source), visible_line(profile.target),
                     profile.all.total, profile.all.main_loop, report.without_line.total);
}

/// A table under its name, or "none" if it has no rows.
template <typename Row>
Blocks section(const char* name, const Fields<Row>& fields, const std::vector<Row>& rows) {
  Blocks blocks{block::Text{fmt::format("\n{}\n\n", name)}};
  blocks.push_back(rows.empty() ? Block{block::Text{"none\n"}}
                                : Block{block::Rows{table_of(fields, rows)}});
  return blocks;
}

Blocks selection_of(const MapSelection& selection) {
  Blocks blocks{block::Text{"\n"}, block::Line{selection.what}};
  append(blocks, section("Source", map_line_fields(), selection.source));
  append(blocks, section("PTX, with what feeds it", map_ptx_fields(), selection.ptx));
  append(blocks, section("SASS", map_sass_fields(), selection.sass));
  return blocks;
}

Blocks lines_of(const std::vector<MapLineRow>& lines, std::size_t top) {
  return {block::Text{"\n"}, first_rows(map_line_fields(), lines, top)};
}

Blocks blocks_of(const SassMapReport& report, std::size_t top) {
  Blocks blocks{block::Text{headline(report)}};
  append(blocks, report.selection ? selection_of(*report.selection) : lines_of(report.lines, top));
  return blocks;
}

Table records_of(const SassMapReport& report) {
  return report.selection ? table_of(map_sass_fields(), report.selection->sass)
                          : table_of(map_line_fields(), report.lines);
}

std::string blank_if_zero(std::int64_t count) {
  return count == 0 ? std::string() : std::to_string(count);
}

std::string annotated_line(std::size_t number, const std::string& text, const LineCount& count) {
  return fmt::format("{:>5} {:>5} {:>5} |{:>5}  {}\n", blank_if_zero(count.own.main_loop),
                     blank_if_zero(count.with_inlined.main_loop),
                     blank_if_zero(count.with_inlined.total), number, text);
}

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

Fields<MapLineRow> map_line_fields() {
  return joined_fields<MapLineRow>(
      {line_fields(), class_fields(std::make_index_sequence<kOpcodeClasses>())});
}

Fields<MapPtxRow> map_ptx_fields() {
  using R = MapPtxRow;
  return {
      {"line", "line", &R::line},
      {"depth", "steps", &R::depth},
      {"text", "PTX", kWraps, &R::text},
      {"source", "source", kWraps, [](const R& r) { return text_or_none(chain_text(r.source)); }},
  };
}

Fields<MapSassRow> map_sass_fields() {
  using R = MapSassRow;
  return {
      {"address", "address", [](const R& r) { return fmt::format("{:#06x}", r.address); }},
      {"text", "SASS", kWraps, &R::text},
      {"class", "class", [](const R& r) { return class_name(r.which); }},
      {"main_loop", "main loop",
       [](const R& r) { return text_or_none(std::string(place_name(r.place))); }},
      {"ptx_line", "PTX line", or_none<&R::ptx_line>},
      {"source", "source", kWraps, [](const R& r) { return text_or_none(chain_text(r.source)); }},
  };
}

Document sass_map_document(const SassMapReport& report, std::size_t top) {
  return {[&report, top] { return blocks_of(report, top); }, [&] { return records_of(report); },
          [&] { return json_map(report); }};
}

std::string annotated_source(const SassMapReport& report) {
  std::map<SourceLine, const LineCount*> counts;
  for (const MapLineRow& row : report.lines) {
    counts[row.count.at] = &row.count;
  }
  std::string text = headline(report);
  for (const auto& [file, lines] : report.files) {
    const auto first = counts.lower_bound({file, 0});
    if (first == counts.end() || first->first.file != file) {
      continue;
    }
    text += fmt::format("\n== {}\n loop loop+ total+\n", file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto found = counts.find({file, static_cast<std::int64_t>(i + 1)});
      text += annotated_line(i + 1, lines[i], found == counts.end() ? LineCount{} : *found->second);
    }
  }
  return text;
}

Fields<ParameterEffect> effect_fields() {
  using E = ParameterEffect;
  return {
      {kEffectFamily, "family", &ParameterEffect::family},
      {"parameter", "parameter", kWraps, &E::parameter},
      {"from", "from", &E::from},
      {"to", "to", &E::to},
      {"class", "class", [](const E& e) { return class_name(e.which); }},
      {"pairs", "pairs", &E::pairs},
      {"mean_before", "before", Look{.decimals = 1}, &E::mean_before},
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
