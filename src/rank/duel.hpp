#pragma once

#include "report/report.hpp"
#include "report/verdict.hpp"

namespace fatune {

/// Fills verdict, doubt, times, interval, rounds and why of `check` from a duel: a problem in which
/// each round has a sample of `config` and one of `rival`.
void judge_duel(const ProblemReport& duel, const Config& config, const Config& rival,
                double tolerance_percent, RivalCheck& check);

}  // namespace fatune
