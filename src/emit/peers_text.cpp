#include "emit/peers_text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/ranges.hpp"

namespace fatune {
namespace {

struct PeerCount {
  std::set<std::string> peers;
  std::size_t problems = 0;
  std::size_t fastest = 0;  ///< problems in which no peer is faster than the winner
};

void add_problem(const PeerProblem& timed, PeerCount& total) {
  if (!timed.winner_tflops || timed.figures.empty()) {
    return;
  }
  bool is_fastest = true;
  for (const PeerFigure& figure : timed.figures) {
    total.peers.insert(figure.peer);
    is_fastest = is_fastest && *timed.winner_tflops >= figure.literature_tflops;
  }
  ++total.problems;
  total.fastest += is_fastest ? 1 : 0;
}

}  // namespace

std::string peers_sentence(const PeerStudy& study) {
  PeerCount total;
  for (const PeerProblem& timed : study.problems) {
    add_problem(timed, total);
  }
  return total.problems == 0
             ? std::string()
             : fmt::format(
                   "Beside {}, timed in turns on {}: fastest in {} of {} "
                   "problems. ",
                   fmt::join(total.peers, ", "), study.device, total.fastest, total.problems);
}

std::string shipped_beside_peers(const RunReport& run, const PeerStudy& study) {
  PeerCount total;
  for (const PeerProblem& timed : study.problems) {
    if (is_among(timed.problem, run.problems, &ProblemReport::problem)) {
      add_problem(timed, total);
    }
  }
  return total.problems == 0
             ? std::string()
             : fmt::format(
                   "the winners that fatune ships are the fastest in {} of {} of these "
                   "problems beside {} (fatune report)\n",
                   total.fastest, total.problems, fmt::join(total.peers, ", "));
}

}  // namespace fatune
