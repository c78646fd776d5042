#pragma once

#include <vector>

#include "emit/plots/study_report.hpp"
#include "plot/plot.hpp"
#include "study/parameter_study.hpp"
#include "study/study_rows.hpp"

// Plots of the results of runs. A function returns no plot if there is nothing to show. Plots of
// configurations refer to the rows of `rows` by number.
namespace fatune {

/// A heat map for each run: the winners' TFLOP/s by length and group of problems.
[[nodiscard]] std::vector<Plot> winner_maps(const StudyReport& report);
/// A heat map for each run but the first: how many times as fast its winners are as the first
/// run's.
[[nodiscard]] std::vector<Plot> change_maps(const StudyReport& report);
/// A plot of TFLOP/s over length for each group of problems with several lengths, with peers and
/// peaks; with peers, one for each GPU that they were timed on. Peers are compared with the
/// winners' times in the same rounds, not with the runs' times.
[[nodiscard]] std::vector<Plot> throughput_plots(const StudyReport& report);
/// A problem's first `most` configurations with the confidence intervals of their medians.
[[nodiscard]] Plot ranking_plot(const ProblemReport& problem, const std::string& id,
                                const std::string& title, std::size_t most);
/// How the configurations with each value of a parameter did, and what changing it alone does.
[[nodiscard]] std::vector<Plot> parameter_plots(const ParameterStudy& study);
/// Every configuration as a line over parameters, resources and time.
[[nodiscard]] std::vector<Plot> parallel_plots(const StudyReport& report, const StudyRows& rows);
/// Time over registers, shared memory and spills, with the Pareto fronts.
[[nodiscard]] std::vector<Plot> resource_plots(const StudyRows& rows);
/// TFLOP/s over FLOP per byte of DRAM traffic, for configurations whose counters were read.
[[nodiscard]] std::vector<Plot> roofline_plots(const StudyReport& report);
/// The number of configurations in the race after each round, and the samples of each
/// configuration.
[[nodiscard]] std::vector<Plot> race_plots(const ProblemReport& problem, const std::string& id,
                                           const std::string& title);
/// The time of the fastest configuration so far over the number of configurations proposed, if a
/// search chose them.
[[nodiscard]] std::vector<Plot> search_plots(const ProblemReport& problem, const std::string& id,
                                             const std::string& title);
/// Clock, power and temperature over a run.
[[nodiscard]] std::vector<Plot> condition_plots(const StudyReport& report);
/// The correlations of instruction counts with the times.
[[nodiscard]] std::vector<Plot> code_plots(const StudyReport& report);

}  // namespace fatune
