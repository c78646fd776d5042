#pragma once

#include <string>

#include "model/report.hpp"
#include "store/run_writer.hpp"

namespace fatune {

/// A run without problems. Every member has a value of its own.
[[nodiscard]] NewRun sample_run();
[[nodiscard]] ProblemReport sample_problem(std::int64_t seq_len = 512);
/// A configuration that was compiled (artifact key "key-<number>"), with that outcome.
[[nodiscard]] Result sample_result(int number, Outcome outcome);
[[nodiscard]] Measured sample_measurement(double median_us);
[[nodiscard]] OutcomeOrigin tried();  ///< by the evaluator, with the launch of sample_launch()
[[nodiscard]] LaunchGeometry sample_launch();
/// The report at the end of a run.
[[nodiscard]] RunReport run_end(double wall_s, bool complete);

}  // namespace fatune
