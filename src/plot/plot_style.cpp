#include <fmt/format.h>

#include "plot/palette.hpp"
#include "plot/svg.hpp"
#include "plot/svg_frame.hpp"

namespace fatune {
namespace {

template <typename Colours>
std::string numbered_properties(std::string_view name, const Colours& colours) {
  std::string properties;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    properties += fmt::format("--plot-{}{}:{};", name, i, css_colour(colours[i]));
  }
  return properties;
}

/// The custom properties that all other rules use.
std::string scheme_rule(const ColourScheme& scheme) {
  return fmt::format(
      ".plot{{--plot-ground:{};--plot-text:{};--plot-faint:{};--plot-axis:{};--plot-grid:{};{}{}}}"
      "\n",
      css_colour(scheme.ground), css_colour(scheme.text), css_colour(scheme.faint_text),
      css_colour(scheme.axis), css_colour(scheme.grid), numbered_properties("s", scheme.series),
      numbered_properties("k", scheme.shades));
}

std::string class_rules() {
  std::string rules;
  for (const auto& [letter, count] : {std::pair{'s', kSeriesStyles}, std::pair{'k', kShades}}) {
    for (std::size_t i = 0; i < count; ++i) {
      rules += fmt::format(".plot .{0}{1}{{--c:var(--plot-{0}{1})}}\n", letter, i);
    }
  }
  return rules;
}

/// Cells have the same colours in every scheme. Their text is black or white.
std::string cell_rules(char letter, const std::array<Colour, kHeatColours>& colours) {
  std::string rules;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    rules += fmt::format(".plot .{0}{1}{{fill:{2}}}.plot .{0}{1}+.value{{fill:{3}}}\n", letter, i,
                         css_colour(colours.at(i)), css_colour(text_colour_on(colours.at(i))));
  }
  return rules;
}

/// Dashes help to tell series apart.
std::string dash_rules() {
  constexpr std::array<std::string_view, kSeriesStyles> kDashes{
      "none", "7 3", "2 3", "8 3 2 3", "12 4", "4 2", "1 4", "8 2 2 2 2 2"};
  std::string rules;
  for (std::size_t i = 1; i < kDashes.size(); ++i) {
    rules += fmt::format(".plot .s{} .join{{stroke-dasharray:{}}}\n", i, kDashes.at(i));
  }
  return rules;
}

std::string text_rules() {
  return fmt::format(
      ".plot text{{fill:var(--plot-text);font-size:{tick}px}}\n"
      ".plot text.title{{font-size:{title}px;font-weight:600}}\n"
      ".plot text.axis-title,.plot text.legend,.plot text.note{{font-size:{text}px}}\n"
      ".plot text.tick,.plot text.axis-title,.plot text.note{{fill:var(--plot-faint)}}\n"
      ".plot text.tick{{font-variant-numeric:tabular-nums}}\n"
      ".plot text.halo{{fill:var(--plot-text);stroke:var(--plot-ground);stroke-width:3px;"
      "stroke-linejoin:round;paint-order:stroke}}\n"
      ".plot .value{{pointer-events:none}}\n",
      fmt::arg("tick", kTickSize), fmt::arg("title", kTitleSize), fmt::arg("text", kTextSize));
}

constexpr std::string_view kShapeRules =
    ".plot{background:var(--plot-ground);font-family:system-ui,-apple-system,\"Segoe UI\","
    "\"DejaVu Sans\",sans-serif}\n"
    ".plot .grid{stroke:var(--plot-grid);fill:none}\n"
    ".plot .axis-line{stroke:var(--plot-axis);fill:none}\n"
    ".plot .mark{fill:var(--c);stroke:var(--plot-ground);stroke-width:.6px}\n"
    ".plot .swatch{fill:var(--c);shape-rendering:crispEdges}\n"
    ".plot .dense .mark{fill-opacity:.35;stroke:var(--c);stroke-width:1px}\n"
    ".plot .range{stroke:var(--c);stroke-width:1.5px;fill:none}\n"
    ".plot .join{stroke:var(--c);stroke-width:2px;fill:none;stroke-linejoin:round}\n"
    ".plot .rule{stroke:var(--c);stroke-width:1.5px;stroke-dasharray:5 4;fill:none}\n"
    ".plot .box{--c:var(--plot-s0)}\n"
    ".plot .box rect{fill:var(--plot-ground);stroke:var(--c);stroke-width:1.5px}\n"
    ".plot .box .median{stroke:var(--c);stroke-width:3px}\n"
    ".plot .cell{stroke:var(--plot-ground)}\n"
    ".plot .line{stroke:var(--c);fill:none;stroke-linejoin:round}\n"
    ".plot .line.k0{stroke-width:1.8px}\n";

std::string made_style() {
  return scheme_rule(light_colours()) + "@media (prefers-color-scheme:dark){\n" +
         scheme_rule(dark_colours()) + "}\n@media print{\n" + scheme_rule(light_colours()) + "}\n" +
         std::string(kShapeRules) + class_rules() + dash_rules() + text_rules() +
         cell_rules('h', heat_colours()) + cell_rules('d', two_sided_colours());
}

}  // namespace

const std::string& plot_style() {
  static const std::string style = made_style();
  return style;
}

}  // namespace fatune
