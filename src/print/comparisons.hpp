#pragma once

#include "model/report.hpp"
#include "model/verdict.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"
#include "print/run_report.hpp"
#include "race/comparison.hpp"
#include "race/study_rows.hpp"

// The result of a run: the winner of each problem, and how sure that is.
namespace fatune {

/// The columns of a table of winners, which has a row for each problem.
[[nodiscard]] Fields<ProblemOfRun> winner_fields();
/// The same for people: without GB/s if the memory is the nearer limit of no winner.
[[nodiscard]] Fields<ProblemOfRun> winner_fields_for_people(
    const std::vector<ProblemOfRun>& problems);
/// The fields of the configuration that is best for all problems.
[[nodiscard]] Fields<CommonChoice> common_choice_fields();

/// The problems of the run, without cover races.
[[nodiscard]] std::vector<ProblemOfRun> problems_of(const RunReport& run);
/// The member `summary` of results.json.
[[nodiscard]] Json json_summary(const RunReport& run);
/// One sentence on the winners of all problems. Of a single problem, it has all about its winner.
[[nodiscard]] std::string winners_sentence(const RunReport& run);
/// Sentences for people, one for each type and head dimension.
[[nodiscard]] std::vector<std::string> choice_sentences(const RunReport& run);

// A configuration's rates, of the literature's FLOP and of the bytes that it must move, compared
// with what its GPU can do.

/// `amount` divided by the result's time, times `factor`. Nothing: the result has no time.
[[nodiscard]] std::optional<double> per_us(const Outcome& outcome, double amount, double factor);

/// The rate in 10^12 FLOP per second. Nothing: the result has no time.
[[nodiscard]] std::optional<double> literature_tflops(const ProblemReport& problem,
                                                      const Result& result);

/// The rate in 10^9 bytes per second, of the bytes that must be moved (needed_bytes()). Nothing:
/// the result has no time.
[[nodiscard]] std::optional<double> gb_per_s(const ProblemReport& problem, const Result& result);

/// gb_per_s() in percent of the rate of reads, measured in the same run. Nothing: as for
/// percent_of_matmul().
[[nodiscard]] std::optional<double> percent_of_reads(const ProblemReport& problem,
                                                     const Result& result);

/// The rate in percent of that of dense products, measured in the same run. Nothing: that was not
/// measured, or the result was not measured in this run.
[[nodiscard]] std::optional<double> percent_of_matmul(const ProblemReport& problem,
                                                      const Result& result);

/// The rate in percent of the tensor cores' nominal peak at the median SM clock of the samples.
/// Nothing: the clock or the architecture's peak is not known, or the result was not measured in
/// this run.
[[nodiscard]] std::optional<double> percent_of_peak_at_clock(const RunReport& run,
                                                             const ProblemReport& problem,
                                                             const Result& result);

/// Whether the memory is the limit that the result comes nearer to.
[[nodiscard]] bool is_memory_nearer(const RunReport& run, const ProblemReport& problem,
                                    const Result& result);

/// A line about the winner's rate beside the nearer limit; empty if no percentage is known.
[[nodiscard]] std::string roofline_text(const RunReport& run, const ProblemReport& problem);

// On how many problems the winner was at least as fast as every other implementation.

/// "Beside a, b, timed in turns on GPU: fastest in 70 of 72 problems. "; empty if none was timed.
[[nodiscard]] std::string peers_sentence(const PeerStudy& study);

/// A line about the winners that fatune ships, on those of the study's problems that the run has;
/// empty if there are none.
[[nodiscard]] std::string shipped_beside_peers(const RunReport& run, const PeerStudy& study);

// The only form in which verdicts are printed, whichever command gives them (docs/verdicts.md).

/// "2 slower, 40 equal": the verdicts that occur, with their counts.
[[nodiscard]] std::string counts_text(std::span<const RivalCheck> checks);
/// "b16 s4096 h16 d128 FP16", and the number of a repetition after the first.
[[nodiscard]] std::string describe_run(const Problem& problem, int run);

/// The columns of a table of checks.
[[nodiscard]] Fields<RivalCheck> rival_check_fields();
/// What every JSON object with checks says of them all: "worse" and "counts".
[[nodiscard]] Json verdict_summary_json(const std::vector<RivalCheck>& checks);

/// JUnit XML of the verdicts on winners, for the test reporters of CI systems: a test suite for
/// each problem, a test case for each check. A test case fails if is_worse(), and is skipped if the
/// verdict is undecided, gone or failing. Precondition: the report has a gate.
[[nodiscard]] std::string gate_junit(const RunReport& report);

/// A run, an earlier one, and how they differ.
struct CompareReport {
  ComparedRun old_run;
  ComparedRun new_run;
  RunComparison comparison;
  std::size_t most_rows = 0;  ///< limit of configurations shown to people; 0: all
};

/// JSON: configs/schema/compare.schema.json.
[[nodiscard]] Document compare_document(const CompareReport& report);

struct RunRow {
  std::string_view side;  ///< "OLD", "NEW"
  const ComparedRun* run;
};

[[nodiscard]] Fields<ComparedProblem> compared_problem_fields();
[[nodiscard]] Fields<RunRow> compared_run_fields();

/// JUnit XML of the comparison, as gate_junit(). A problem that NEW lacks is a suite with one
/// skipped test case.
[[nodiscard]] std::string compare_junit(const CompareReport& report);

}  // namespace fatune
