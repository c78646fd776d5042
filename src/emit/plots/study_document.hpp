#pragma once

#include <vector>

#include "emit/document/document.hpp"
#include "emit/document/render.hpp"
#include "emit/plots/plots.hpp"
#include "plot/plot.hpp"

namespace fatune {

/// The page's title, and a sentence on the number of results and problems.
[[nodiscard]] PageHead study_head(const StudyReport& report);
/// The report, section by section: what won, rankings, parameters, resources, races, conditions,
/// failures, rules, machine code, and how it was measured.
[[nodiscard]] Blocks study_blocks(const StudyReport& report);
/// The figures of the report.
[[nodiscard]] std::vector<Plot> study_plots(const StudyReport& report);

/// The main plots of one run: winners or throughput, and the ranking of each problem.
[[nodiscard]] Blocks main_plots(const RunReport& run);

}  // namespace fatune
