#include "commands/sass/sass_map_command.hpp"

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "commands/sass/mapped_code.hpp"
#include "core/text_parts.hpp"
#include "emit/sass_map_report.hpp"
#include "sass/line_counts.hpp"
#include "sass/line_map.hpp"
#include "sass/listing_text.hpp"

namespace fatune {
namespace {

std::string text_of(const MappedCode& mapped, const SourceLine& line) {
  const auto file = mapped.files.find(line.file);
  const auto index = static_cast<std::size_t>(line.line - 1);
  if (file == mapped.files.end() || index >= file->second.size()) {
    return {};
  }
  return std::string(trim(file->second[index]));
}

std::vector<MapLineRow> line_rows(const MappedCode& mapped, const LineCounts& counts) {
  std::vector<MapLineRow> rows;
  for (const LineCount& count : counts.lines) {
    rows.push_back({count, text_of(mapped, count.at)});
  }
  return rows;
}

MapLineRow row_of(const MappedCode& mapped, const std::vector<MapLineRow>& rows,
                  const SourceLine& line) {
  for (const MapLineRow& row : rows) {
    if (row.count.at == line) {
      return row;
    }
  }
  MapLineRow none;  // the line has PTX only: no machine code is left
  none.count.at = line;
  none.text = text_of(mapped, line);
  return none;
}

struct Name {
  std::string operator()(const SourceLine& line) const {
    return fmt::format("{}:{}", line.file, line.line);
  }
  std::string operator()(const PtxLine& line) const {
    return fmt::format("PTX line {}", line.line);
  }
  std::string operator()(const SassAddress& at) const {
    return fmt::format("SASS {:#06x}", at.address);
  }
};

MapSelection select(const MappedCode& mapped, const SassMapOptions& options,
                    const std::vector<MapLineRow>& rows) {
  const PtxFunction& ptx = mapped.ptx.functions.at(mapped.ptx_function);
  const SassFunction& sass = mapped.code.kernel();
  const std::vector<LoopPlace> places = loop_places(sass);
  const LineMap map = map_line({mapped.code.listing, sass, mapped.ptx, ptx}, *options.target,
                               static_cast<int>(options.depth));
  MapSelection selection{std::visit(Name(), *options.target), {}, {}, {}};
  for (const SourceLine& line : map.source) {
    selection.source.push_back(row_of(mapped, rows, line));
  }
  for (const SliceStep& step : map.ptx) {
    const PtxStatement& statement = ptx.statements[step.statement];
    selection.ptx.push_back(
        {statement.line, step.depth, statement.text, mapped.ptx.places.at(statement.place)});
  }
  for (const std::size_t i : map.sass) {
    const Instruction& one = sass.instructions[i];
    selection.sass.push_back({one.address, instruction_text(one), class_of(one), places[i],
                              one.ptx_line, mapped.code.listing.places.at(one.place)});
  }
  return selection;
}

}  // namespace

ExitCode sass_map(const SassMapOptions& options) {
  const MappedCode mapped = load_mapped_code(options, named_source(options));
  if (options.ptx_text) {
    print_text(mapped.ptx_text);
    return ExitCode::ok;
  }
  SassMapReport report;
  report.code = {mapped.code.source, mapped.code.facts,
                 profile_function(mapped.code.listing, mapped.code.kernel())};
  const LineCounts counts = count_lines(mapped.code.listing, mapped.code.kernel());
  report.without_line = counts.without_line;
  report.lines = line_rows(mapped, counts);
  report.files = mapped.files;
  if (options.target) {
    report.selection = select(mapped, options, report.lines);
  }
  if (options.annotate) {
    print_text(annotated_source(report));
    return ExitCode::ok;
  }
  print_document(sass_map_document(report, rows_shown(options.output)), options.output);
  return ExitCode::ok;
}

}  // namespace fatune
