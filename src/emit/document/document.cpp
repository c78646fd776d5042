#include "emit/document/document.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "core/text_parts.hpp"
#include "core/visible_text.hpp"

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
  Table table;
  for (const std::string& heading : headings) {
    table.columns.push_back(plain_column(heading));
  }
  return table;
}

/// The category's name on an axis of categories, where such a position exists; else the number.
FieldValue on_axis(const Axis& axis, double value) {
  if (axis.scale != AxisScale::category) {
    return value;
  }
  const auto at = static_cast<std::size_t>(std::max(0.0, std::round(value)));
  return at < axis.categories.size() ? FieldValue{axis.categories[at]} : FieldValue{};
}

FieldValue optional_number(const std::optional<double>& value) {
  return value ? FieldValue{*value} : FieldValue{};
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
                                optional_number(point.low), optional_number(point.high),
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

void append(Blocks& blocks, Blocks more) {
  blocks.insert(blocks.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

std::size_t count_shown(std::size_t rows, std::size_t top) {
  return top == 0 ? rows : std::min(top, rows);
}

std::string more_rows_text(std::size_t more) {
  return more == 0 ? std::string() : fmt::format("... and {} more (--top 0 shows all)\n", more);
}

std::string incomplete_text(const Coverage& coverage) {
  return coverage.complete ? std::string()
                           : fmt::format("\nINCOMPLETE: interrupted after {} of {}\n",
                                         coverage.done, coverage.planned);
}

}  // namespace fatune
