#pragma once

#include <cstddef>

#include "core/output_format.hpp"

namespace fatune {

/// The page that a report is printed on. A format alone converts to a page whose tables are as wide
/// as they need.
struct Page {
  // NOLINTNEXTLINE(google-explicit-constructor)
  Page(OutputFormat of_format, std::size_t most_columns = 0, bool with_colour = false)
      : format(of_format), columns(most_columns), colour(with_colour) {}

  OutputFormat format;
  std::size_t columns;  ///< the most columns of a table's line (docs/tables.md); 0: no limit
  bool colour;          ///< ANSI colours; on a terminal only
};

}  // namespace fatune
