#include "emit/rates.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attention/flop.hpp"
#include "core/device_limits.hpp"
#include "core/outcome.hpp"
#include "core/ranges.hpp"

namespace fatune {
namespace {

std::optional<double> measured_tflops(const ProblemReport& problem, const Result& result) {
  const bool here = std::holds_alternative<Measured>(result.outcome) && !result.reused;
  return here ? literature_tflops(problem, result) : std::nullopt;
}

std::optional<double> percent_of_whole(const std::optional<double>& part,
                                       const std::optional<double>& whole) {
  return part && whole && *whole > 0.0 ? std::optional(100.0 * *part / *whole) : std::nullopt;
}

std::optional<double> matmul_tflops(const ProblemReport& problem) {
  return problem.matmul ? std::optional(problem.matmul->tflops) : std::nullopt;
}

std::optional<double> peak_tflops_at_clock(const RunReport& run, const ProblemReport& problem) {
  const auto flop_per_clock = nominal_tensor_flop_per_clock(run.device.arch);
  if (!flop_per_clock || !problem.conditions) {
    return std::nullopt;
  }
  const double clocks_per_us = problem.conditions->sm_mhz_median;
  return *flop_per_clock * run.device.sm_count * clocks_per_us * kFlopPerUsToTflops;
}

/// The share of the tensor cores' peak, at the sampled clock if the result is of this run.
std::optional<Roof> compute_roof(const RunReport& run, const ProblemReport& problem,
                                 const Result& result) {
  if (const auto percent = percent_of_peak_at_clock(run, problem, result)) {
    return Roof{Roof::Kind::compute, *percent, problem.conditions->sm_mhz_median};
  }
  const std::optional<double> peak =
      nominal_tensor_flop_per_clock(run.device.arch)
          ? std::optional(peak_tensor_flop_per_us(run.device) * kFlopPerUsToTflops)
          : std::nullopt;
  const auto percent = percent_of_whole(literature_tflops(problem, result), peak);
  constexpr double kKhzPerMhz = 1e3;
  return percent
             ? std::optional(Roof{Roof::Kind::compute, *percent, run.device.clock_khz / kKhzPerMhz})
             : std::nullopt;
}

/// Precondition: the result has a time.
std::optional<Roof> memory_roof(const RunReport& run, const ProblemReport& problem,
                                const Result& result) {
  constexpr double kBytesPerUsToGbps = 1e-3;
  const double gbps = needed_bytes(problem.problem) / ranked_us(result.outcome) * kBytesPerUsToGbps;
  const auto percent = percent_of_whole(gbps, run.device.memory_gbps);
  return percent ? std::optional(Roof{Roof::Kind::memory, *percent, 0.0}) : std::nullopt;
}

std::string clock_text(const MatmulRate& rate) {
  return rate.sm_mhz > 0.0 ? fmt::format(" at {:.0f} MHz", rate.sm_mhz) : std::string();
}

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

std::optional<double> literature_tflops(const ProblemReport& problem, const Result& result) {
  const double us = is_ranked(result.outcome) ? ranked_us(result.outcome) : 0.0;
  return us > 0.0 ? std::optional(literature_flop(problem.problem) / us * kFlopPerUsToTflops)
                  : std::nullopt;
}

std::optional<double> percent_of_matmul(const ProblemReport& problem, const Result& result) {
  return percent_of_whole(measured_tflops(problem, result), matmul_tflops(problem));
}

std::optional<double> percent_of_peak_at_clock(const RunReport& run, const ProblemReport& problem,
                                               const Result& result) {
  return percent_of_whole(measured_tflops(problem, result), peak_tflops_at_clock(run, problem));
}

std::optional<Roof> nearer_roof(const RunReport& run, const ProblemReport& problem,
                                const Result& result) {
  if (!literature_tflops(problem, result)) {
    return std::nullopt;
  }
  const auto compute = compute_roof(run, problem, result);
  const auto memory = memory_roof(run, problem, result);
  return !memory || (compute && compute->percent >= memory->percent) ? compute : memory;
}

std::string_view roof_name(Roof::Kind kind) {
  return kind == Roof::Kind::compute ? "compute" : "memory";
}

std::string roofline_text(const RunReport& run, const ProblemReport& problem) {
  if (problem.ranking.empty()) {
    return {};
  }
  const Result& winner = problem.ranking.front();
  std::string text;
  if (const auto percent = percent_of_matmul(problem, winner)) {
    text +=
        fmt::format(", {:.0f} % of the {:.0f} TFLOP/s that dense products reached in this run{}",
                    *percent, problem.matmul->tflops, clock_text(*problem.matmul));
  }
  if (const auto percent = percent_of_peak_at_clock(run, problem, winner)) {
    text += fmt::format(", {:.0f} % of the peak at {:.0f} MHz", *percent,
                        problem.conditions->sm_mhz_median);
  }
  return text.empty()
             ? text
             : fmt::format("winner: {:.0f} TFLOP/s{}\n", *literature_tflops(problem, winner), text);
}

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
