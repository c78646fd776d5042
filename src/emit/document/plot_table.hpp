#pragma once

#include "emit/document/table.hpp"
#include "plot/plot.hpp"

namespace fatune {

/// The data of a plot, with a row for each mark. Marks that stand for a configuration are left out:
/// the table of configurations has them.
[[nodiscard]] Table plot_table(const Plot& plot);

}  // namespace fatune
