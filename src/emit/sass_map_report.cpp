#include "emit/sass_map_report.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "emit/print_rows.hpp"

namespace fatune {
namespace {

Json json_selection(const MapSelection& selection) {
  return {{"what", selection.what},
          {"source", json_rows(map_line_fields(), selection.source)},
          {"ptx", json_rows(map_ptx_fields(), selection.ptx)},
          {"sass", json_rows(map_sass_fields(), selection.sass)}};
}

std::string json_report(const SassMapReport& report) {
  Json json = {{"format", "fatune.sass_map"}, {"format_version", 1}};
  json["source"] = report.code.source;
  json["function"] = report.code.profile.function;
  json["target"] = report.code.profile.target;
  json["instructions"] = report.code.profile.all.total;
  json["main_loop_instructions"] = report.code.profile.all.main_loop;
  json["without_line"] = report.without_line.total;
  json["lines"] = json_rows(map_line_fields(), report.lines);
  json["selection"] = report.selection ? json_selection(*report.selection) : Json();
  return json_text(json);
}

std::string headline(const SassMapReport& report) {
  const SassProfile& profile = report.code.profile;
  return fmt::format("{} for {}: {} instructions, {} in the main loop; {} of no known line\n",
                     report.code.source, profile.target, profile.all.total, profile.all.main_loop,
                     report.without_line.total);
}

/// A table under its name; a word in its place when it has no rows.
template <typename Row>
std::string section(const char* name, const std::vector<Field<Row>>& fields,
                    const std::vector<Row>& rows, const Page& page) {
  return fmt::format("\n{}\n\n{}", name,
                     rows.empty() ? std::string("none\n") : print_rows(fields, rows, page));
}

std::string print_selection(const MapSelection& selection, const Page& page) {
  if (page.format == OutputFormat::csv) {
    return print_rows(map_sass_fields(), selection.sass, page);
  }
  return fmt::format("\n{}\n", selection.what) +
         section("Source", map_line_fields(), selection.source, page) +
         section("PTX, with what feeds it", map_ptx_fields(), selection.ptx, page) +
         section("SASS", map_sass_fields(), selection.sass, page);
}

std::string print_lines(const std::vector<MapLineRow>& lines, const Page& page, std::size_t top) {
  if (page.format == OutputFormat::csv) {
    return print_rows(map_line_fields(), lines, page);
  }
  const std::size_t shown = top == 0 ? lines.size() : std::min(top, lines.size());
  const std::vector<MapLineRow> rows(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text = "\n" + print_rows(map_line_fields(), rows, page);
  return shown == lines.size()
             ? text
             : text + fmt::format("... and {} more (--top 0 shows all)\n", lines.size() - shown);
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

std::string print_sass_map(const SassMapReport& report, const Page& page, std::size_t top) {
  if (page.format == OutputFormat::json) {
    return json_report(report);
  }
  const std::string rows = report.selection ? print_selection(*report.selection, page)
                                            : print_lines(report.lines, page, top);
  return page.format == OutputFormat::csv ? rows : headline(report) + rows;
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
