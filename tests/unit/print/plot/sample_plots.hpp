#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "print/plot/plot.hpp"

// Plots to draw in tests.
namespace fatune::testing_plots {

/// Two series with intervals over three configurations, and a rule. Row numbers are 1 to 6.
[[nodiscard]] Plot interval_plot();
/// Two lines over lengths, steps, and a rule.
[[nodiscard]] Plot line_plot();
[[nodiscard]] Plot box_plot();
[[nodiscard]] Plot heat_plot();
/// A heat map with a middle value, a cell without text, and a missing cell.
[[nodiscard]] Plot two_sided_plot();
/// Three axes, one of them with categories. The second line lacks a value. Row numbers are 7 to 9.
[[nodiscard]] Plot parallel_plot();
[[nodiscard]] std::vector<Plot> all_drawings();

/// `count` marks with labels of 25 characters.
[[nodiscard]] Plot many_points(std::size_t count);
/// `lines` lines over `axes` axes.
[[nodiscard]] Plot many_lines(std::size_t lines, std::size_t axes);

/// The plot with `text` in place of each of its texts, category names included.
[[nodiscard]] Plot with_text_everywhere(Plot plot, const std::string& text);

/// Anything that the types allow: numbers that are NaN, negative or huge, texts of any bytes,
/// places that do not exist. The same seed gives the same plot.
[[nodiscard]] Plot random_plot(std::uint32_t seed);

}  // namespace fatune::testing_plots
