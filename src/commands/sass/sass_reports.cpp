#include "commands/sass/sass_reports.hpp"

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/visible_text.hpp"

namespace fatune {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<SassRow> class_rows(const SassProfile& profile) {
  std::vector<SassRow> rows;
  for (const OpcodeClassText& text : opcode_classes()) {
    const SassCount& count = profile.of(text.which);
    if (count.total > 0) {
      rows.push_back({std::string(text.name), std::string(text.name), count,
                      share(count.main_loop, profile.all.main_loop),
                      profile.producer_loop.has_value()});
    }
  }
  rows.push_back({"all",
                  {},
                  profile.all,
                  share(profile.all.main_loop, profile.all.main_loop),
                  profile.producer_loop.has_value()});
  return rows;
}

std::vector<SassRow> opcode_rows(const SassProfile& profile) {
  return mapped(profile.opcodes, [&](const OpcodeCount& opcode) {
    return SassRow{opcode.mnemonic, std::string(class_name(opcode.which)), opcode.count,
                   share(opcode.count.main_loop, profile.all.main_loop),
                   profile.producer_loop.has_value()};
  });
}

std::optional<int> registers_of(const SassReport& report) {
  return report.facts ? std::optional(report.facts->registers_per_thread)
                      : report.profile.registers;
}

Json json_main_loop(const SassProfile& profile) {
  if (!profile.main_loop) {
    return {};
  }
  const MainLoop& loop = *profile.main_loop;
  return {{"first_address", loop.first_address},
          {"last_address", loop.last_address},
          {"instructions", profile.all.main_loop},
          {"conditional", profile.all.conditional},
          {"depth", loop.depth},
          {"inner_loops", loop.inner_loops},
          {"calls", loop.calls},
          {"tensor_flop", loop.tensor_flop ? Json(*loop.tensor_flop) : Json()}};
}

Json json_producer_loop(const SassProfile& profile) {
  if (!profile.producer_loop) {
    return {};
  }
  const ProducerLoop& loop = *profile.producer_loop;
  return {{"first_address", loop.first_address},
          {"last_address", loop.last_address},
          {"instructions", profile.all.producer_loop},
          {"depth", loop.depth},
          {"bulk_loads", loop.bulk_loads}};
}

Json json_code(const SassReport& report) {
  const SassProfile& profile = report.profile;
  const auto registers = registers_of(report);
  Json json = {{"source", report.source},
               {"function", profile.function},
               {"target", profile.target},
               {"registers_per_thread", registers ? Json(*registers) : Json()}};
  json["spill_store_bytes"] = report.facts ? Json(report.facts->spill_store_bytes) : Json();
  json["spill_load_bytes"] = report.facts ? Json(report.facts->spill_load_bytes) : Json();
  json["instructions"] = profile.all.total;
  json["loops"] = profile.loops;
  json["irreducible_edges"] = profile.irreducible_edges;
  json["main_loop"] = json_main_loop(profile);
  json["producer_loop"] = json_producer_loop(profile);
  json["unknown_opcodes"] = unknown_opcodes(profile);
  return json;
}

std::string loop_line(const SassProfile& profile) {
  if (!profile.main_loop) {
    return "no loop\n";
  }
  const MainLoop& loop = *profile.main_loop;
  std::string line = fmt::format(
      "main loop {:#06x}-{:#06x}: {} instructions, {} of them conditional; depth {}, {} inner "
      "loops, {} calls",
      loop.first_address, loop.last_address, profile.all.main_loop, profile.all.conditional,
      loop.depth, loop.inner_loops, loop.calls);
  if (loop.tensor_flop.value_or(0) > 0) {
    line += fmt::format("; {} tensor FLOP per warp and iteration", *loop.tensor_flop);
  }
  return line + "\n";
}

std::string producer_line(const ProducerLoop& loop, const SassProfile& profile) {
  return fmt::format(
      "producer's loop {:#06x}-{:#06x}: {} instructions, {} of them bulk loads; depth {}\n",
      loop.first_address, loop.last_address, profile.all.producer_loop, loop.bulk_loads,
      loop.depth);
}

std::string code_line(const SassReport& report) {
  const auto registers = registers_of(report);
  std::string text =
      fmt::format("{}{}{}: {} instructions, {} registers", visible_line(report.source),
                  report.profile.target.empty() ? "" : " for ", visible_line(report.profile.target),
                  report.profile.all.total, registers ? std::to_string(*registers) : "?");
  if (report.facts) {
    text += fmt::format(", spills {} + {} bytes", report.facts->spill_store_bytes,
                        report.facts->spill_load_bytes);
  }
  return text + "\n";
}

/// The lines above the tables, each a paragraph of its own.
Blocks headline(const SassReport& report) {
  std::vector<std::string> lines{code_line(report), loop_line(report.profile)};
  if (report.profile.producer_loop) {
    lines.push_back(producer_line(*report.profile.producer_loop, report.profile));
  }
  if (const auto unknown = unknown_opcodes(report.profile); !unknown.empty()) {
    lines.push_back(visible_line(fmt::format("unknown opcodes: {}", fmt::join(unknown, ", "))) +
                    "\n");
  }
  Blocks blocks;
  for (std::string& line : lines) {
    append(blocks, {block::Text{std::move(line)}, block::ParagraphEnd{}});
  }
  return blocks;
}

std::vector<std::string> shapes_of(const NamedCode& code) {
  return mapped(code.lines, &NormalLine::shape);
}

template <auto kGet, BeforeAfter CountChange::*kWhere>
const auto of = [](const CountChange& change) { return kGet(change.*kWhere); };

auto before(const BeforeAfter& counts) { return counts.before; }
auto after(const BeforeAfter& counts) { return counts.after; }
auto delta(const BeforeAfter& counts) { return counts.delta(); }
std::optional<double> relative(const BeforeAfter& counts) { return counts.relative_percent(); }

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
           [](auto& r) { return r.count.classes[kClasses].main_loop; }}...};
}

Fields<MapLineRow> line_fields() {
  using R = MapLineRow;
  return {
      {"file", "file", [](auto& r) { return r.count.at.file; }},
      {"line", "line", [](auto& r) { return r.count.at.line; }},
      {"main_loop", "loop", [](auto& r) { return r.count.own.main_loop; }},
      {"main_loop_with_inlined", "loop+", [](auto& r) { return r.count.with_inlined.main_loop; }},
      {"conditional", "cond", [](auto& r) { return r.count.own.conditional; }},
      {"total", "total", [](auto& r) { return r.count.own.total; }},
      {"total_with_inlined", "total+", [](auto& r) { return r.count.with_inlined.total; }},
      {"classes", "classes in the loop", kWraps,
       [](auto& r) { return text_or_none(main_loop_classes(r)); }},
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
  return json_document(
      "sass_map", {{"source", report.code.source},
                   {"function", report.code.profile.function},
                   {"target", report.code.profile.target},
                   {"instructions", report.code.profile.all.total},
                   {"main_loop_instructions", report.code.profile.all.main_loop},
                   {"without_line", report.without_line.total},
                   {"lines", json_rows(map_line_fields(), report.lines)},
                   {"selection", report.selection ? json_selection(*report.selection) : Json()}});
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
  return {block::Text{fmt::format("\n{}\n\n", name)},
          rows.empty() ? Block{block::Text{"none\n"}} : Block{block::Rows{table_of(fields, rows)}}};
}

Blocks selection_of(const MapSelection& selection) {
  return joined_blocks({{block::Text{"\n"}, block::Line{selection.what}},
                        section("Source", map_line_fields(), selection.source),
                        section("PTX, with what feeds it", map_ptx_fields(), selection.ptx),
                        section("SASS", map_sass_fields(), selection.sass)});
}

Blocks blocks_of(const SassMapReport& report, std::size_t top) {
  return joined_blocks(
      {{block::Text{headline(report)}},
       report.selection
           ? selection_of(*report.selection)
           : Blocks{block::Text{"\n"}, first_rows(map_line_fields(), report.lines, top)}});
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
      {"per_mflop", "per MFLOP", decimals(1), &CountRow::per_mflop},
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
    append(rows, rows_of(sample));
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

Json json_why(const SassWhyReport& report) {
  return json_document(
      "sass_why", {{"complete", report.coverage.complete},
                   {"family", report.family},
                   {"space", report.space},
                   {"target", report.target},
                   {"run", report.run ? Json(*report.run) : Json()},
                   {"device", report.device.empty() ? Json() : Json(report.device)},
                   {"confidence", json_value(report.confidence)},
                   {"left_out", report.left_out},
                   {"other_code", report.other_code},
                   {"configs", json_list(report.samples, json_sample)},
                   {"effects", json_rows(effect_fields(), report.effects)},
                   {"problems", json_list(report.problems, [](const WhyProblem& problem) -> Json {
                      return {
                          {"problem", problem.problem},
                          {"correlations", json_rows(correlation_fields(), problem.correlations)}};
                    })}});
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
      {"source", "source", kWraps, [](auto& r) { return text_or_none(chain_text(r.source)); }},
  };
}

Fields<MapSassRow> map_sass_fields() {
  using R = MapSassRow;
  return {
      {"address", "address", [](auto& r) { return fmt::format("{:#06x}", r.address); }},
      {"text", "SASS", kWraps, &R::text},
      {"class", "class", [](auto& r) { return class_name(r.which); }},
      {"main_loop", "main loop",
       [](auto& r) { return text_or_none(std::string(place_name(r.place))); }},
      {"ptx_line", "PTX line", or_none<&R::ptx_line>},
      {"source", "source", kWraps, [](auto& r) { return text_or_none(chain_text(r.source)); }},
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
      {"class", "class", [](auto& e) { return class_name(e.which); }},
      {"pairs", "pairs", &E::pairs},
      {"mean_before", "before", decimals(1), &E::mean_before},
      {"mean_difference", "difference", decimals(1), &E::mean_difference},
  };
}

Fields<ClassCorrelation> correlation_fields() {
  using C = ClassCorrelation;
  return {
      {"what", "class", &C::what},
      {"configs", "configs", &C::configs},
      {"spearman", "spearman", decimals(2), [](auto& c) { return c.correlation.spearman; }},
      {"low", "low", decimals(2), [](auto& c) { return c.correlation.low; }},
      {"high", "high", decimals(2), [](auto& c) { return c.correlation.high; }},
      {"share_percent", "share %", [](auto& c) { return c.correlation.share_percent(); }},
  };
}

Document sass_why_document(const SassWhyReport& report, std::size_t top) {
  return {[&report, top] { return blocks_of(report, top); }, [&] { return counts_of(report); },
          [&] { return json_why(report); }};
}

Fields<SassRow> sass_fields() {
  return {
      {"what", "what", &SassRow::what},
      {"class", "class", kProgramsOnly, or_none<&SassRow::class_name>},
      {"total", "total", [](auto& r) { return r.count.total; }},
      {"main_loop", "main loop", [](auto& r) { return r.count.main_loop; }},
      {"conditional", "conditional", [](auto& r) { return r.count.conditional; }},
      {"main_loop_percent", "loop %", decimals(1), &SassRow::main_loop_percent},
      {"producer_loop", "producer",
       [](auto& r) {
         return r.has_producer ? std::optional(r.count.producer_loop) : std::nullopt;
       }},
  };
}

Fields<CountChange> sass_diff_fields() {
  using C = CountChange;
  return {
      {"what", "what", &C::what},
      {"main_loop_before", "loop before", of<before, &C::main_loop>},
      {"main_loop_after", "loop after", of<after, &C::main_loop>},
      {"main_loop_delta", "loop delta", of<delta, &C::main_loop>},
      {"main_loop_relative_percent", "loop %", decimals(1), of<relative, &C::main_loop>},
      {"total_before", "total before", of<before, &C::total>},
      {"total_after", "total after", of<after, &C::total>},
      {"total_delta", "total delta", of<delta, &C::total>},
      {"total_relative_percent", "total %", decimals(1), of<relative, &C::total>},
  };
}

Document sass_document(const SassReport& report, bool opcodes) {
  const auto records = [&report, opcodes] {
    return table_of(sass_fields(),
                    opcodes ? opcode_rows(report.profile) : class_rows(report.profile));
  };
  const auto for_people = [&report, records] {
    return joined_blocks({headline(report), {block::Text{"\n"}, block::Rows{records()}}});
  };
  const auto object = [&] {
    Json json = json_head("sass");
    json.update(json_code(report));
    json["classes"] = json_rows(sass_fields(), class_rows(report.profile));
    json["opcodes"] = json_rows(sass_fields(), opcode_rows(report.profile));
    return json;
  };
  return {for_people, records, object};
}

Document sass_diff_document(const SassReport& a, const SassReport& b, bool opcodes) {
  const auto records = [&a, &b, opcodes] {
    return table_of(sass_diff_fields(), opcodes ? opcode_changes(a.profile, b.profile)
                                                : class_changes(a.profile, b.profile));
  };
  const auto for_people = [&a, &b, records] {
    return joined_blocks({headline(a), headline(b), {block::Text{"\n"}, block::Rows{records()}}});
  };
  const auto object = [&] {
    return json_document(
        "sass_diff",
        {{"before", json_code(a)},
         {"after", json_code(b)},
         {"classes", json_rows(sass_diff_fields(), class_changes(a.profile, b.profile))},
         {"opcodes", json_rows(sass_diff_fields(), opcode_changes(a.profile, b.profile))}});
  };
  return {for_people, records, object};
}

std::string print_listing_diff(const NamedCode& a, const NamedCode& b) {
  std::string text = fmt::format("--- {}\n+++ {}\n", a.source, b.source);
  for (const DiffLine& line : diff_lines(shapes_of(a), shapes_of(b))) {
    const std::vector<NormalLine>& side = line.sign == '+' ? b.lines : a.lines;
    text += line.sign + side[line.index].text + "\n";
  }
  return text;
}

}  // namespace fatune
