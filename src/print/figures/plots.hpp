#pragma once

#include "model/report.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"
#include "print/plot/plot.hpp"
#include "race/study_rows.hpp"

namespace fatune {

/// The subject of a report: runs, compared with each other, and related outputs of other commands.
struct StudyReport {
  std::vector<RunReport> runs;
  std::vector<std::string> names;  ///< names of the runs: "run 12", "before.json"
  std::vector<PeerStudy> peers;
  std::vector<CodeStudy> code;
  std::string command;           ///< "fatune report 12": makes this report again
  std::size_t most_rows = 1500;  ///< limit of configurations that are shown one by one
};

// Plots of the results of runs. A function returns no plot if there is nothing to show. Plots of
// configurations refer to the rows of `rows` by number.

/// A heat map for each run: the winners' TFLOP/s by length and group of problems.
[[nodiscard]] std::vector<Plot> winner_maps(const StudyReport& report);
/// A heat map for each run but the first: how many times as fast its winners are as the first
/// run's.
[[nodiscard]] std::vector<Plot> change_maps(const StudyReport& report);
/// A plot of TFLOP/s over length for each group of problems with several lengths, with peers and
/// peaks; with peers, one for each GPU that they were timed on. Peers are compared with the
/// winners' times in the same rounds, not with the runs' times.
[[nodiscard]] std::vector<Plot> throughput_plots(const StudyReport& report);
/// The time of all calls of the run's workload with sets of few configurations, beside the time
/// with the winners.
[[nodiscard]] std::vector<Plot> workload_plots(const RunReport& run);
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

// Tables of a report on runs. A table has no rows if there is nothing to show.

/// A row for each problem of each run: the winner, its time and its lead.
[[nodiscard]] Table winners_table(const StudyReport& report);
/// A row for each of several runs: what tells it from the others.
[[nodiscard]] Table runs_table(const StudyReport& report);
/// A row for each GPU and peer: on how many problems it was measured, and how the winners compare
/// with it.
[[nodiscard]] Table peers_table(const StudyReport& report);
/// A row for each problem: how its samples were taken, and the chip's condition meanwhile.
[[nodiscard]] Table measuring_table(const StudyReport& report);
/// The configurations without a rank. A row stands for all of a run that have none for one reason.
[[nodiscard]] Table failures_table(const StudyReport& report);
/// A row for each problem: how many configurations the rules dropped.
[[nodiscard]] Table dropped_table(const StudyReport& report);
/// A row for each rule: how many configurations it dropped on all problems of the run.
[[nodiscard]] Table rules_table(const StudyReport& report);
/// A row for each rule of an audited problem.
[[nodiscard]] Table audit_table(const StudyReport& report);
/// A row for each known fact of a run.
[[nodiscard]] Table method_table(const StudyReport& report);

/// A table with a row for each of `rows`, in their order: run and problem, result fields, and
/// parameters. Marks of plots refer to these rows by number.
[[nodiscard]] Table configuration_table(const StudyReport& report, const StudyRows& rows);

// Groups of problems that differ only in batch and length.

/// "h16 d128 BF16 causal": describe() without batch and length.
[[nodiscard]] std::string group_name(const Problem& problem);
/// group_name() without the mask: full and causal problems share a plot.
[[nodiscard]] std::string group_name_without_mask(const Problem& problem);

/// The lengths of all problems, ascending, each once.
[[nodiscard]] std::vector<std::int64_t> lengths_of(const std::vector<RunReport>& runs);
/// The values of `name_of` for all problems, in order of appearance, each once.
[[nodiscard]] std::vector<std::string> groups_of(const std::vector<RunReport>& runs,
                                                 std::string (*name_of)(const Problem&));

/// The page's title, and a sentence on the number of results and problems.
[[nodiscard]] PageHead study_head(const StudyReport& report);
/// The report, section by section: what won, rankings, parameters, resources, races, conditions,
/// failures, rules, machine code, and how it was measured.
[[nodiscard]] Blocks study_blocks(const StudyReport& report);
[[nodiscard]] std::vector<Plot> study_plots(const StudyReport& report);

/// The main plots of one run: winners or throughput, and the ranking of each problem.
[[nodiscard]] Blocks main_plots(const RunReport& run);

}  // namespace fatune
