#pragma once

#include "emit/document/table.hpp"
#include "plot/plot.hpp"

namespace fatune {

/// What a plot was drawn from: a row for each of its marks. Marks that stand for a configuration
/// are left out: they are in the table of configurations.
[[nodiscard]] Table plot_table(const Plot& plot);

}  // namespace fatune
