#pragma once

#include <string>

#include "report/report.hpp"
#include "study/others.hpp"

// On how many problems the winner was at least as fast as every other implementation.
namespace fatune {

/// "Beside a, b, timed in turns on GPU: fastest in 70 of 72 problems. "; empty if none was timed.
[[nodiscard]] std::string peers_sentence(const PeerStudy& study);

/// A line about the winners that fatune ships, on those of the study's problems that the run has;
/// empty if there are none.
[[nodiscard]] std::string shipped_beside_peers(const RunReport& run, const PeerStudy& study);

}  // namespace fatune
