#pragma once

#include "report/report.hpp"

namespace fatune {

/// Fills verdict, times, ratio, rounds and why of `check` from a duel: a problem in which each
/// round has a sample of both. The verdicts slower and faster need an interval of the ratio beyond
/// the tolerance, equal needs one within it.
void judge_duel(const ProblemReport& duel, const Config& winner, const Config& rival,
                double tolerance_percent, GateCheck& check);

}  // namespace fatune
