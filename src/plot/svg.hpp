#pragma once

#include <string>

#include "plot/plot.hpp"

namespace fatune {

/// A file carries its own style and title. A page has plot_style(), and for narrow screens a
/// drawing of its own, in which letters are as large as in the wide one.
enum class SvgPlace { file, page, narrow_page };

/// Draws the plot as an SVG element, 720 units wide (on a narrow page 344) unless it needs more,
/// with role="img", title and desc. Nothing in it is fetched or executed. Text of any bytes is
/// safe: markup is escaped, characters that XML forbids and bidirectional controls are shown as
/// U+FFFD, and long text is cut in the middle. Values that are not finite, or not positive on a log
/// axis, are left out. Marks have `data-row`.
[[nodiscard]] std::string svg(const Plot& plot, SvgPlace place);

/// Whether the plot is worth a drawing for narrow screens. Parallel axes are not: they need the
/// width.
[[nodiscard]] bool has_narrow_svg(const Plot& plot);

/// CSS of the classes that svg() uses, for light, dark (prefers-color-scheme) and print.
[[nodiscard]] const std::string& plot_style();

}  // namespace fatune
