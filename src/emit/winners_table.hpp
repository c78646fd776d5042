#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emit/document/document.hpp"
#include "emit/document/table.hpp"
#include "emit/result_fields.hpp"
#include "report/report.hpp"
#include "study/others.hpp"

// The result of a run: the winner of each problem, and how sure that is.
namespace fatune {

/// The columns of a table of winners, which has a row for each problem.
[[nodiscard]] Fields<ProblemOfRun> winner_fields();
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

// A configuration's rate, by the literature's count of FLOP, compared with what its GPU can do.

/// The rate in 10^12 FLOP per second. Nothing: the result has no time.
[[nodiscard]] std::optional<double> literature_tflops(const ProblemReport& problem,
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

/// A limit of the chip: its tensor cores' peak, or its memory's bandwidth.
struct Roof {
  enum class Kind { compute, memory };
  Kind kind = Kind::compute;
  double percent = 0.0;  ///< what the result reaches of it
  double sm_mhz = 0.0;   ///< SM clock of the peak; 0: the memory's limit
};

/// The roof that the result comes nearer to. Compute: the literature's FLOP, over the nominal peak
/// at the clock that was sampled, or at the greatest clock where none was. Memory: each tensor's
/// needed bytes once, over the nominal bandwidth. Nothing: the result has no time, or neither roof
/// is known.
[[nodiscard]] std::optional<Roof> nearer_roof(const RunReport& run, const ProblemReport& problem,
                                              const Result& result);
[[nodiscard]] std::string_view roof_name(Roof::Kind kind);  ///< "compute", "memory"

/// A line about the winner's rate; empty if neither percentage is known.
[[nodiscard]] std::string roofline_text(const RunReport& run, const ProblemReport& problem);

// On how many problems the winner was at least as fast as every other implementation.

/// "Beside a, b, timed in turns on GPU: fastest in 70 of 72 problems. "; empty if none was timed.
[[nodiscard]] std::string peers_sentence(const PeerStudy& study);

/// A line about the winners that fatune ships, on those of the study's problems that the run has;
/// empty if there are none.
[[nodiscard]] std::string shipped_beside_peers(const RunReport& run, const PeerStudy& study);

}  // namespace fatune
