#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plot/plot.hpp"

// Plots to draw in tests.
namespace fatune::testing_plots {

/// Two series with intervals over three configurations, a rule; row numbers 1 to 6.
[[nodiscard]] Plot interval_plot();
/// Two lines over lengths with a rule, and steps.
[[nodiscard]] Plot line_plot();
[[nodiscard]] Plot box_plot();
[[nodiscard]] Plot heat_plot();
/// A heat map with a middle, a cell without a text, and none in one place.
[[nodiscard]] Plot two_sided_plot();
/// Three axes, one of categories; the second line lacks a value. Row numbers 7 to 9.
[[nodiscard]] Plot parallel_plot();
[[nodiscard]] std::vector<Plot> all_drawings();

/// So many marks with labels of 25 characters and shades.
[[nodiscard]] Plot many_points(std::size_t count);
/// So many lines over so many axes.
[[nodiscard]] Plot many_lines(std::size_t lines, std::size_t axes);

/// The plot with `text` in place of every text that it has, and lists of names.
[[nodiscard]] Plot with_text_everywhere(Plot plot, const std::string& text);

/// Anything that the types allow: numbers that are none, negative or huge, texts of any bytes,
/// places that there are not. The same for the same seed.
[[nodiscard]] Plot random_plot(std::uint32_t seed);

}  // namespace fatune::testing_plots
