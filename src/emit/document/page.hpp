#pragma once

#include <cstddef>

#include "core/output_format.hpp"

namespace fatune {

/// The page that a report is printed on. A format alone is a page too, whose tables are as wide as
/// they need.
struct Page {
  // NOLINTNEXTLINE(google-explicit-constructor)
  Page(OutputFormat of_format, std::size_t most_columns = 0, bool with_colour = false)
      : format(of_format), columns(most_columns), colour(with_colour) {}

  OutputFormat format;
  std::size_t columns;  ///< most that a line of a table may have (docs/tables.md); 0: any number
  bool colour;          ///< ANSI colours; on a terminal only
};

}  // namespace fatune
