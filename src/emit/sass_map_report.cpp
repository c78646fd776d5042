#include "emit/sass_map_report.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/visible_text.hpp"
#include "sass/listing_text.hpp"

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
      {"file", "file", Look{.once = true}, [](const R& r) { return r.count.at.file; }},
      {"line", "line", [](const R& r) { return r.count.at.line; }},
      {"main_loop", "loop", [](const R& r) { return r.count.own.main_loop; }},
      {"main_loop_with_inlined", "loop+",
       [](const R& r) { return r.count.with_inlined.main_loop; }},
      {"conditional", "cond", Look{.leaves = 1},
       [](const R& r) { return r.count.own.conditional; }},
      {"total", "total", Look{.leaves = 2}, [](const R& r) { return r.count.own.total; }},
      {"total_with_inlined", "total+", Look{.leaves = 3},
       [](const R& r) { return r.count.with_inlined.total; }},
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
      {"class", "class", Look{.leaves = 2}, [](const R& r) { return class_name(r.which); }},
      {"main_loop", "main loop",
       [](const R& r) { return text_or_none(std::string(place_name(r.place))); }},
      {"ptx_line", "PTX line", Look{.leaves = 1}, or_none<&R::ptx_line>},
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

}  // namespace fatune
