#include "plot/svg.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "core/visible_text.hpp"
#include "plot/svg_frame.hpp"

namespace fatune {
namespace {

constexpr double kTitleLine = 18.0;
constexpr double kBelowTitle = 30.0;
constexpr std::size_t kMostOfSummary = 2000;  // limit in columns of text

struct DrawSvg {
  double width;

  SvgDrawing operator()(const XyPlot& plot) const { return svg_xy(plot, kBelowTitle, width); }
  SvgDrawing operator()(const HeatMap& plot) const { return svg_heat(plot, kBelowTitle, width); }
  SvgDrawing operator()(const ParallelPlot& plot) const { return svg_parallel(plot, kBelowTitle); }
};

struct DrawingClass {
  std::string_view operator()(const XyPlot&) const { return "xy"; }
  std::string_view operator()(const HeatMap&) const { return "heat"; }
  std::string_view operator()(const ParallelPlot&) const { return "parallel"; }
};

/// Replaces all but letters and digits with hyphens.
std::string safe_id(std::string_view id) {
  std::string safe;
  for (const char c : id.substr(0, 100)) {
    safe += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  }
  return safe;
}

SvgDrawing nothing_to_show(double width) {
  return {width, kBelowTitle + 70.0,
          text_element({.x = width / 2.0,
                        .y = kBelowTitle + 38.0,
                        .css_class = "note",
                        .anchor = TextEnd::middle,
                        .font_size = kTextSize,
                        .room = width},
                       "nothing to show")};
}

SvgDrawing drawing_of(const Plot& plot, double width) {
  SvgDrawing drawing = std::visit(DrawSvg{width}, plot.drawing);
  return drawing.empty ? nothing_to_show(width) : drawing;
}

/// The title and the description, which screen readers speak.
std::string spoken_heading(const Plot& plot, const std::string& id) {
  return fmt::format("<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-desc\">{2}</desc>\n", id,
                     markup(visible_text(plot.title, kMostOfSummary)),
                     markup(visible_text(plot.summary, kMostOfSummary)));
}

std::string title_line(const Plot& plot) {
  return text_element(
      {.x = 0.0, .y = kTitleLine, .css_class = "title", .font_size = kTitleSize, .room = kSvgWidth},
      plot.title);
}

}  // namespace

bool has_narrow_svg(const Plot& plot) {
  return !std::holds_alternative<ParallelPlot>(plot.drawing);
}

std::string svg(const Plot& plot, SvgPlace place) {
  const bool narrow = place == SvgPlace::narrow_page;
  const std::string id = safe_id(plot.id) + (narrow ? "-narrow" : "");
  const SvgDrawing drawing = drawing_of(plot, narrow ? kNarrowSvgWidth : kSvgWidth);
  const bool file = place == SvgPlace::file;
  const double top = file ? 0.0 : kTitleLine;  // a page shows the title itself
  return fmt::format(
      "<svg class=\"plot {}{}\"{}{} role=\"img\" aria-labelledby=\"{}-title {}-desc\" "
      "viewBox=\"0 {} {} {}\">\n"
      "{}{}{}{}</svg>\n",
      std::visit(DrawingClass{}, plot.drawing), narrow ? " narrow" : "",
      file ? " xmlns=\"http://www.w3.org/2000/svg\"" : "",
      // Without a narrow drawing, a page scrolls and does not shrink it.
      file || has_narrow_svg(plot) ? std::string()
                                   : fmt::format(" width=\"{}\"", std::ceil(drawing.width)),
      id, id, top, std::ceil(drawing.width), std::ceil(drawing.bottom) - top,
      file ? fmt::format("<style>\n{}</style>\n", plot_style()) : "", spoken_heading(plot, id),
      file ? title_line(plot) : "", drawing.elements);
}

}  // namespace fatune
