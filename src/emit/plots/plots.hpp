#pragma once

#include <vector>

#include "emit/plots/study_report.hpp"
#include "plot/plot.hpp"
#include "study/parameter_study.hpp"
#include "study/study_rows.hpp"

// Plots of what runs found. Each function gives none where there is nothing to show. Plots of
// configurations refer to the rows of `rows` by number.
namespace fatune {

/// For each run a heat map: the winners' TFLOP/s, lengths by kinds of problems.
[[nodiscard]] std::vector<Plot> winner_maps(const StudyReport& report);
/// For each run but the first: how many times as fast as the first run's its winners are.
[[nodiscard]] std::vector<Plot> change_maps(const StudyReport& report);
/// For each kind of problem with several lengths: TFLOP/s over length, beside peers and peaks.
/// Peers are beside the winners' times of the same rounds, not beside those of the runs.
[[nodiscard]] std::vector<Plot> throughput_plots(const StudyReport& report);
/// A problem's first `most` configurations with the confidence intervals of their medians.
[[nodiscard]] Plot ranking_plot(const ProblemReport& problem, const std::string& id,
                                const std::string& title, std::size_t most);
/// What a parameter's values have in common, and what changing it alone does.
[[nodiscard]] std::vector<Plot> parameter_plots(const ParameterStudy& study);
/// Every configuration as a line over parameters, resources and time.
[[nodiscard]] std::vector<Plot> parallel_plots(const StudyReport& report, const StudyRows& rows);
/// Registers, spills and shared memory against time, with the Pareto fronts.
[[nodiscard]] std::vector<Plot> resource_plots(const StudyRows& rows);
/// FLOP per byte of DRAM against TFLOP/s, for configurations whose counters were read.
[[nodiscard]] std::vector<Plot> roofline_plots(const StudyReport& report);
/// How many configurations a race still had after each round, and the samples of each.
[[nodiscard]] std::vector<Plot> race_plots(const ProblemReport& problem, const std::string& id,
                                           const std::string& title);
/// How fast the fastest configuration was after each that was tried, where a search chose them.
[[nodiscard]] std::vector<Plot> search_plots(const ProblemReport& problem, const std::string& id,
                                             const std::string& title);
/// Clock, power and temperature over a run.
[[nodiscard]] std::vector<Plot> condition_plots(const StudyReport& report);
/// Which counts of instructions go with the times.
[[nodiscard]] std::vector<Plot> code_plots(const StudyReport& report);

}  // namespace fatune
