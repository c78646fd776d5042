#include "print/document/document.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text_parts.hpp"
#include "base/visible_text.hpp"

namespace fatune {
namespace {

struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  Json operator()(const std::string& value) const { return value; }
};

std::string heading_of(const Axis& axis, const char* otherwise) {
  return axis.title.empty() ? otherwise : axis.title;
}

Table::Column plain_column(const std::string& heading) {
  return {.name = heading, .heading = heading, .look = {.decimals = kBySize}};
}

Table with_columns(const std::vector<std::string>& headings) {
  return {mapped(headings, plain_column), {}};
}

/// The category's name on an axis of categories, where such a position exists; else the number.
FieldValue on_axis(const Axis& axis, double value) {
  if (axis.scale != AxisScale::category) {
    return value;
  }
  const auto at = static_cast<std::size_t>(std::max(0.0, std::round(value)));
  return at < axis.categories.size() ? FieldValue{axis.categories[at]} : FieldValue{};
}

Table table_of_boxes(const XyPlot& plot) {
  Table table = with_columns({heading_of(plot.y, "value"), "least", "low quartile", "median",
                              "high quartile", "greatest"});
  for (const PlotBox& box : plot.boxes) {
    table.rows.push_back({on_axis(plot.y, box.position), box.least, box.low_quartile, box.median,
                          box.high_quartile, box.greatest});
  }
  return table;
}

struct TableOfDrawing {
  Table operator()(const XyPlot& plot) const {
    if (!plot.boxes.empty()) {
      return table_of_boxes(plot);
    }
    Table table = with_columns(
        {"series", heading_of(plot.x, "x"), heading_of(plot.y, "y"), "low", "high", "note"});
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        if (!point.row) {
          table.rows.push_back({series.name, on_axis(plot.x, point.x), on_axis(plot.y, point.y),
                                optional_value(point.low), optional_value(point.high),
                                point.label});
        }
      }
    }
    return table;
  }
  Table operator()(const HeatMap& map) const {
    Table table = with_columns({heading_of(map.y, "row"), heading_of(map.x, "column"),
                                map.value_title.empty() ? "value" : map.value_title, "note"});
    for (const HeatCell& cell : map.cells) {
      table.rows.push_back({on_axis(map.y, static_cast<double>(cell.row)),
                            on_axis(map.x, static_cast<double>(cell.column)), cell.value,
                            cell.label});
    }
    return table;
  }
  Table operator()(const ParallelPlot&) const { return {}; }
};

/// The text between the colour's ANSI codes; unchanged when `on` is false.
std::string coloured(std::string_view text, TextColour colour, bool on) {
  static constexpr std::array<int, 4> kCodes{1, 32, 33, 31};
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", kCodes.at(static_cast<std::size_t>(colour)), text)
            : std::string(text);
}

/// The line below a table that leaves `more` rows out; empty if it shows all of them.
std::string more_rows_text(std::size_t more) {
  return more == 0 ? std::string() : fmt::format("... and {} more (--top 0 shows all)\n", more);
}

struct OnTerminal {
  const Page& page;

  std::string operator()(const block::Text& text) const { return visible_lines(text.lines); }
  std::string operator()(const block::Line& line) const { return visible_line(line.line) + "\n"; }
  std::string operator()(const block::ParagraphEnd&) const { return {}; }
  std::string operator()(const block::Heading& heading) const {
    return coloured(visible_line(heading.line), TextColour::bold, page.colour) + "\n";
  }
  std::string operator()(const block::Warning& warning) const {
    return coloured(visible_line(warning.line), TextColour::yellow, page.colour) + "\n";
  }
  std::string operator()(const block::Verbatim& verbatim) const {
    return visible_lines(verbatim.lines);
  }
  std::string operator()(const block::Rows& rows) const {
    if (!rows.paragraphs.empty()) {
      return paragraphs_of(rows);
    }
    return draw_plain(text_for_people(rows.table, rows.kind), page.columns) +
           more_rows_text(rows.more);
  }
  std::string operator()(const block::Figure& figure) const {
    return "\n" + character_plot(figure.plot, page.columns);
  }
  std::string operator()(const block::Fold& fold) const {
    return "\n" + visible_line(fold.line) + "\n";
  }
  std::string operator()(const block::FoldEnd&) const { return {}; }
  [[nodiscard]] std::string paragraphs_of(const block::Rows& rows) const {
    return joined(rows.paragraphs, "", [&](const block::Rows::Paragraph& paragraph) {
      return coloured(visible_line(paragraph.word), paragraph.colour, page.colour) +
             visible_lines(paragraph.text);
    });
  }
};

constexpr std::size_t kColumns = 100;

struct InMarkdown {
  std::string operator()(const block::Text& text) const { return markdown_lines(text.lines); }
  std::string operator()(const block::Line& line) const {
    return markdown_lines(visible_line(line.line)) + "\n";
  }
  std::string operator()(const block::ParagraphEnd&) const { return "\n"; }
  std::string operator()(const block::Heading& heading) const {
    return "## " + markdown(heading.line) + "\n\n";
  }
  std::string operator()(const block::Warning& warning) const {
    return "**" + markdown(warning.line) + "**\n";
  }
  std::string operator()(const block::Verbatim& verbatim) const {
    return markdown_code(verbatim.lines);
  }
  std::string operator()(const block::Rows& rows) const {
    return draw_markdown(text_for_people(rows.table, rows.kind)) +
           (rows.more == 0 ? "" : "\n" + more_rows_text(rows.more));
  }
  std::string operator()(const block::Figure& figure) const {
    return markdown_code(character_plot(figure.plot, kColumns));
  }
  std::string operator()(const block::Fold& fold) const {
    return "### " + markdown(fold.line) + "\n\n";
  }
  std::string operator()(const block::FoldEnd&) const { return "\n"; }
};

}  // namespace

FieldValue typed_value(const std::string& text) {
  if (text == "true" || text == "false") {
    return text == "true";
  }
  const auto number = whole_number<std::int64_t>(text);
  return number ? FieldValue{*number} : FieldValue{text};
}

Json json_value(const FieldValue& value) { return std::visit(ToJson{}, value); }

std::string json_text(const Json& json) {
  return visible_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string json_line(const Json& json) {
  return visible_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Table plot_table(const Plot& plot) { return std::visit(TableOfDrawing{}, plot.drawing); }

Json json_head(const std::string& name, int version) {
  return {{"format", "fatune." + name}, {"format_version", version}};
}

Json json_document(const std::string& name, const Json& members) {
  Json json = json_head(name);
  json.update(members);
  return json;
}

void append(Blocks& blocks, Blocks more) {
  blocks.insert(blocks.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

Blocks joined_blocks(std::initializer_list<Blocks> parts) {
  Blocks all;
  for (const Blocks& part : parts) {
    append(all, part);
  }
  return all;
}

std::string incomplete_text(const Coverage& coverage) {
  return coverage.complete ? std::string()
                           : fmt::format("\nINCOMPLETE: interrupted after {} of {}\n",
                                         coverage.done, coverage.planned);
}

std::string render_terminal(const Blocks& blocks, const Page& page) {
  return joined(blocks, "",
                [&](const Block& block) { return std::visit(OnTerminal{page}, block); });
}

std::string render_markdown(const Blocks& blocks) {
  return joined(blocks, "", [&](const Block& block) { return std::visit(InMarkdown{}, block); });
}

std::string render(const Document& document, const Page& page) {
  switch (page.format) {
    case OutputFormat::json:
      return json_text(document.object());
    case OutputFormat::json_lines:
      return json_lines(document.records());
    case OutputFormat::csv:
      return draw_csv(text_for_programs(document.records()));
    case OutputFormat::markdown:
      return render_markdown(document.for_people());
    case OutputFormat::table:
      break;
  }
  return render_terminal(document.for_people(), page);
}

}  // namespace fatune
