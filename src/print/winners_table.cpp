#include "print/comparisons.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "model/device_limits.hpp"
#include "model/flop.hpp"
#include "model/outcome.hpp"
#include "model/record_json.hpp"
#include "print/workload_report.hpp"

namespace fatune {
namespace {

/// A limit of the chip: its tensor cores' peak, or its memory's bandwidth.
struct Roof {
  enum class Kind { compute, memory };
  Kind kind = Kind::compute;
  double percent = 0.0;  ///< what the result reaches of it
  double sm_mhz = 0.0;   ///< SM clock of the peak; 0: the memory's limit
};

bool is_of_this_run(const Result& result) {
  return std::holds_alternative<Measured>(result.outcome) && !result.reused;
}

std::optional<double> measured_tflops(const ProblemReport& problem, const Result& result) {
  return is_of_this_run(result) ? literature_tflops(problem, result) : std::nullopt;
}

std::optional<double> percent_of_whole(const std::optional<double>& part,
                                       const std::optional<double>& whole) {
  return part && whole && *whole > 0.0 ? std::optional(100.0 * *part / *whole) : std::nullopt;
}

std::optional<double> peak_tflops_at_clock(const RunReport& run, const ProblemReport& problem) {
  const auto flop_per_clock = nominal_tensor_flop_per_clock(run.device.arch);
  if (!flop_per_clock || !problem.conditions) {
    return std::nullopt;
  }
  const double clocks_per_us = problem.conditions->sm_mhz_median;
  return product_rate(problem.problem) * *flop_per_clock * run.device.sm_count * clocks_per_us *
         kFlopPerUsToTflops;
}

/// The share of the tensor cores' peak, at the sampled clock if the result is of this run.
std::optional<Roof> compute_roof(const RunReport& run, const ProblemReport& problem,
                                 const Result& result) {
  if (const auto percent = percent_of_peak_at_clock(run, problem, result)) {
    return Roof{Roof::Kind::compute, *percent, problem.conditions->sm_mhz_median};
  }
  const auto peak = if_any(nominal_tensor_flop_per_clock(run.device.arch), [&](double) {
    return product_rate(problem.problem) * peak_tensor_flop_per_us(run.device) * kFlopPerUsToTflops;
  });
  constexpr double kKhzPerMhz = 1e3;
  return if_any(percent_of_whole(literature_tflops(problem, result), peak), [&](double percent) {
    return Roof{Roof::Kind::compute, percent, run.device.clock_khz / kKhzPerMhz};
  });
}

std::optional<Roof> memory_roof(const RunReport& run, const ProblemReport& problem,
                                const Result& result) {
  return if_any(percent_of_whole(gb_per_s(problem, result), run.device.memory_gbps),
                [](double percent) {
                  return Roof{Roof::Kind::memory, percent, 0.0};
                });
}

/// The roof that the result comes nearer to. Compute: the literature's FLOP, over the nominal peak
/// at the clock that was sampled, or at the greatest clock where none was. Memory: each tensor's
/// needed bytes once, over the nominal bandwidth. Nothing: the result has no time, or neither roof
/// is known.
std::optional<Roof> nearer_roof(const RunReport& run, const ProblemReport& problem,
                                const Result& result) {
  if (!literature_tflops(problem, result)) {
    return std::nullopt;
  }
  const auto compute = compute_roof(run, problem, result);
  const auto memory = memory_roof(run, problem, result);
  return !memory || (compute && compute->percent >= memory->percent) ? compute : memory;
}

/// "compute", "memory"
std::string_view roof_name(const Roof& roof) {
  return roof.kind == Roof::Kind::compute ? "compute" : "memory";
}

std::string bandwidth_text(double gbps) {
  constexpr double kGbPerTb = 1000.0;
  return gbps < kGbPerTb ? fmt::format("{:.0f} GB/s", gbps)
                         : fmt::format("{:.2f} TB/s", gbps / kGbPerTb);
}

/// The winner's rate beside what products reached; empty if neither percentage is known.
std::string beside_products(const RunReport& run, const ProblemReport& problem,
                            const Result& winner) {
  std::string text;
  if (const auto percent = percent_of_matmul(problem, winner)) {
    const MatmulRate& rate = *problem.matmul;
    text += fmt::format(", {:.0f} % of the {:.0f} TFLOP/s that dense products reached in this run",
                        *percent, rate.tflops);
    text += rate.sm_mhz > 0.0 ? fmt::format(" at {:.0f} MHz", rate.sm_mhz) : "";
  }
  if (const auto percent = percent_of_peak_at_clock(run, problem, winner)) {
    text += fmt::format(", {:.0f} % of the peak at {:.0f} MHz", *percent,
                        problem.conditions->sm_mhz_median);
  }
  return text;
}

/// The winner's rate beside what the memory reached; empty for times of other runs.
std::string beside_memory(const RunReport& run, const ProblemReport& problem,
                          const Result& winner) {
  std::string text;
  if (const auto percent = percent_of_reads(problem, winner)) {
    text += fmt::format(", {:.0f} % of the {} that reads reached in this run", *percent,
                        bandwidth_text(problem.memory->read_gb_per_s));
  }
  if (const auto roof = memory_roof(run, problem, winner); roof && is_of_this_run(winner)) {
    text += fmt::format(", {:.0f} % of the memory's {}", roof->percent,
                        bandwidth_text(run.device.memory_gbps));
  }
  return text;
}

/// Of bytes if the memory is the nearer limit, else of FLOP. Precondition: the result has a time.
std::string rate_text(const RunReport& run, const ProblemReport& problem, const Result& result) {
  return is_memory_nearer(run, problem, result)
             ? bandwidth_text(*gb_per_s(problem, result))
             : fmt::format("{:.0f} TFLOP/s", *literature_tflops(problem, result));
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

/// The winner; null if nothing is ranked.
const Result* winner_of(const ProblemOfRun& of) {
  return of.problem.ranking.empty() ? nullptr : &of.problem.ranking.front();
}

/// `get` of the winner, which takes (ProblemOfRun, Result) and returns an optional; nothing without
/// a winner.
template <auto kGet>
const auto of_winner = [](const ProblemOfRun& of) {
  const Result* const winner = winner_of(of);
  return winner == nullptr ? decltype(kGet(of, *winner))() : kGet(of, *winner);
};

using OptionalNumber = std::optional<double>;

constexpr auto winner_us = [](const ProblemOfRun&, const Result& winner) -> OptionalNumber {
  return ranked_us(winner.outcome);
};
constexpr auto rate_tflops = [](const ProblemOfRun& of, const Result& winner) {
  return literature_tflops(of.problem, winner);
};
constexpr auto rate_gb_per_s = [](const ProblemOfRun& of, const Result& winner) {
  return gb_per_s(of.problem, winner);
};

/// The confidence interval of the median. Nothing for estimates, and where only the median is
/// known.
std::optional<MedianInterval> interval_of(const Result& winner) {
  const auto* const measured = std::get_if<Measured>(&winner.outcome);
  if (measured == nullptr || measured->timing.median_high_us <= measured->timing.median_low_us) {
    return std::nullopt;
  }
  const Timing& timing = measured->timing;
  return MedianInterval{timing.median_low_us, timing.median_high_us, timing.confidence};
}

template <double MedianInterval::*kEnd>
constexpr auto interval_end =
    [](const ProblemOfRun&, const Result& winner) { return if_any(interval_of(winner), kEnd); };

/// Half the interval's width, in percent of the time.
constexpr auto precision_percent = [](const ProblemOfRun&, const Result& winner) {
  return if_any(interval_of(winner), [&](const MedianInterval& interval) {
    return 50.0 * (interval.high - interval.low) / ranked_us(winner.outcome);
  });
};

template <auto kGet>
constexpr auto of_roof = [](const ProblemOfRun& of, const Result& winner) {
  return if_any(nearer_roof(of.run, of.problem, winner), kGet);
};

/// A race may rank a configuration with a smaller median of few samples second: its lead is 0.
OptionalNumber lead_percent(const ProblemOfRun& of) {
  if (of.problem.ranking.size() < 2) {
    return std::nullopt;
  }
  const auto [first_us, second_us] =
      compared_us(of.problem.ranking[0].outcome, of.problem.ranking[1].outcome);
  return first_us > 0.0 ? OptionalNumber(100.0 * (std::max(1.0, second_us / first_us) - 1.0))
                        : std::nullopt;
}

/// The number of other configurations that cannot be told apart from the winner.
std::int64_t tied_with(const ProblemOfRun& of) {
  return std::max<std::int64_t>(0,
                                std::ranges::count(of.problem.ranking, 1, &Result::tie_group) - 1);
}

std::string problem_name(const ProblemOfRun& of) {
  return describe_run(of.problem.problem, of.problem.run);
}

std::string precision_text(const ProblemOfRun& of) {
  const OptionalNumber percent = of_winner<precision_percent>(of);
  return percent ? fmt::format(" +-{:.2g} %", *percent) : std::string();
}

std::string roof_sentence(const ProblemOfRun& of) {
  const auto roof = nearer_roof(of.run, of.problem, *winner_of(of));
  if (!roof) {
    return {};
  }
  return roof->kind == Roof::Kind::compute
             ? fmt::format(", {:.0f} % of the tensor cores' peak at {:.0f} MHz", roof->percent,
                           roof->sm_mhz)
             : fmt::format(", {:.0f} % of the memory's {}", roof->percent,
                           bandwidth_text(of.run.device.memory_gbps));
}

std::string doubt_text(const ProblemOfRun& of) {
  const std::int64_t tied = tied_with(of);
  const OptionalNumber lead = lead_percent(of);
  return tied > 0
             ? fmt::format("; {} other{} cannot be told apart from it", tied, tied == 1 ? "" : "s")
         : lead ? fmt::format("; the next is {:.1f} % slower", *lead)
                : std::string();
}

/// All about one winner. Precondition: there is one.
std::string winner_sentence(const ProblemOfRun& of) {
  const std::size_t ranked = of.problem.ranking.size();
  const std::string scope = ranked == 1 ? std::string() : fmt::format("fastest of {} on ", ranked);
  const Result& winner = *winner_of(of);
  const OptionalNumber rate = rate_tflops(of, winner);
  return fmt::format("{}{}{}: {}, {:.1f} us{}{}{}{}", of.run.measured ? "" : "estimate: ", scope,
                     problem_name(of), winner.short_form, ranked_us(winner.outcome),
                     precision_text(of),
                     rate ? ", " + rate_text(of.run, of.problem, winner) : std::string(),
                     roof_sentence(of), doubt_text(of));
}

/// "35 to 79 % of the nearer roof".
std::string roofs_text(const std::vector<ProblemOfRun>& problems) {
  std::set<double> percents;
  for (const ProblemOfRun& of : problems) {
    if (const OptionalNumber percent = of_winner<of_roof<&Roof::percent>>(of)) {
      percents.insert(*percent);
    }
  }
  return percents.empty() ? std::string()
                          : fmt::format("; {:.0f} to {:.0f} % of the nearer roof",
                                        *percents.begin(), *percents.rbegin());
}

std::string counts_text(const std::vector<ProblemOfRun>& problems) {
  const auto without = std::ranges::count_if(
      problems, [](const ProblemOfRun& of) { return winner_of(of) == nullptr; });
  const auto tied =
      std::ranges::count_if(problems, [](const ProblemOfRun& of) { return tied_with(of) > 0; });
  const auto alone = std::ssize(problems) - without - tied;
  std::string text = fmt::format("{} alone in front", alone);
  text += tied == 0 ? "" : fmt::format(", {} tied with others", tied);
  text += without == 0 ? "" : fmt::format(", {} without any", without);
  return text;
}

std::string winners_scope(const std::vector<ProblemOfRun>& problems) {
  std::set<Problem> different;
  for (const ProblemOfRun& of : problems) {
    different.insert(of.problem.problem);
  }
  return different.size() == problems.size()
             ? fmt::format("{} problems", problems.size())
             : fmt::format("{} repetitions of {} problem{}", problems.size(), different.size(),
                           different.size() == 1 ? "" : "s");
}

std::string choice_sentence(const CommonChoice& choice) {
  const std::string scope = fmt::format("all {} problems of {} d{}", choice.problems,
                                        dtype_name(choice.dtype), choice.d_head);
  return choice.config.empty()
             ? fmt::format("no configuration is ranked on {}", scope)
             : fmt::format(
                   "best for {}: {}: slower than the winners by {:.2f} % (geometric mean), "
                   "at worst by {:.2f} % on {}",
                   scope, choice.config, choice.mean_regret_percent, choice.worst_regret_percent,
                   describe(choice.worst_problem));
}

Json json_winner(const ProblemOfRun& of) {
  Json json = json_object(winner_fields(), of);
  json["problem"] = record_json(of.problem.problem);
  return json;
}

Json json_common_choice(const CommonChoice& choice) {
  Json json = json_object(common_choice_fields(), choice);
  json["worst_problem"] = choice.config.empty() ? Json(nullptr) : record_json(choice.worst_problem);
  return json;
}

template <double CommonChoice::*kMember>
const auto regret = [](const CommonChoice& choice) {
  return choice.config.empty() ? std::nullopt : std::optional(choice.*kMember);
};

}  // namespace

std::optional<double> per_us(const Outcome& outcome, double amount, double factor) {
  const double us = is_ranked(outcome) ? ranked_us(outcome) : 0.0;
  return us > 0.0 ? std::optional(amount / us * factor) : std::nullopt;
}

std::optional<double> literature_tflops(const ProblemReport& problem, const Result& result) {
  return per_us(result.outcome, literature_flop(problem.problem), kFlopPerUsToTflops);
}

std::optional<double> gb_per_s(const ProblemReport& problem, const Result& result) {
  return per_us(result.outcome, needed_bytes(problem.problem), kBytesPerUsToGbps);
}

std::optional<double> percent_of_reads(const ProblemReport& problem, const Result& result) {
  return problem.memory && is_of_this_run(result)
             ? percent_of_whole(gb_per_s(problem, result), problem.memory->read_gb_per_s)
             : std::nullopt;
}

std::optional<double> percent_of_matmul(const ProblemReport& problem, const Result& result) {
  return percent_of_whole(measured_tflops(problem, result),
                          if_any(problem.matmul, &MatmulRate::tflops));
}

std::optional<double> percent_of_peak_at_clock(const RunReport& run, const ProblemReport& problem,
                                               const Result& result) {
  return percent_of_whole(measured_tflops(problem, result), peak_tflops_at_clock(run, problem));
}

bool is_memory_nearer(const RunReport& run, const ProblemReport& problem, const Result& result) {
  const auto roof = nearer_roof(run, problem, result);
  return roof && roof->kind == Roof::Kind::memory;
}

std::string roofline_text(const RunReport& run, const ProblemReport& problem) {
  if (problem.ranking.empty()) {
    return {};
  }
  const Result& winner = problem.ranking.front();
  const std::string text = is_memory_nearer(run, problem, winner)
                               ? beside_memory(run, problem, winner)
                               : beside_products(run, problem, winner);
  return text.empty() ? text : fmt::format("winner: {}{}\n", rate_text(run, problem, winner), text);
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

Fields<ProblemOfRun> winner_fields() {
  return {
      {"problem", "problem", kWraps, [](auto& of) { return problem_name(of); }},
      {"run", "run", kProgramsOnly, [](auto& of) { return of.problem.run; }},
      {"winner", "winner", kWraps,
       [](auto& of) { return if_any(winner_of(of), &Result::short_form); }},
      {"family", "family", kProgramsOnly,
       [](auto& of) { return if_any(winner_of(of), [](auto& w) { return w.config.family; }); }},
      {"time_us", "us", decimals(1), of_winner<winner_us>},
      {"low_us", "low", decimals(1, kForPrograms), of_winner<interval_end<&MedianInterval::low>>},
      {"high_us", "high", decimals(1, kForPrograms),
       of_winner<interval_end<&MedianInterval::high>>},
      {"precision_percent", "+- %", decimals(2), of_winner<precision_percent>},
      {"literature_tflops", "TFLOP/s", decimals(1), of_winner<rate_tflops>},
      {kGbPerSField, "GB/s", of_winner<rate_gb_per_s>},
      {"roof_percent", "roof %", of_winner<of_roof<&Roof::percent>>},
      {"roof", "roof", of_winner<of_roof<roof_name>>},
      {"lead_percent", "lead %", decimals(2), lead_percent},
      {"tied_with", "tied", tied_with},
  };
}

Fields<ProblemOfRun> winner_fields_for_people(const std::vector<ProblemOfRun>& problems) {
  const auto is_near = [](const ProblemOfRun& of) {
    const Result* const winner = winner_of(of);
    return winner != nullptr && is_memory_nearer(of.run, of.problem, *winner);
  };
  return with_gb_per_s_if(std::ranges::any_of(problems, is_near), winner_fields());
}

Fields<CommonChoice> common_choice_fields() {
  using C = CommonChoice;
  return {
      {"dtype", "dtype", [](auto& c) { return dtype_name(c.dtype); }},
      {"d_head", "d_head", &C::d_head},
      {"problems", "problems", &C::problems},
      {"config", "config", or_none<&C::config>},
      {"family", "family", kProgramsOnly, or_none<&C::family>},
      {"mean_regret_percent", "mean %", decimals(2), regret<&C::mean_regret_percent>},
      {"worst_regret_percent", "worst %", decimals(2), regret<&C::worst_regret_percent>},
  };
}

std::vector<ProblemOfRun> problems_of(const RunReport& run) {
  std::vector<ProblemOfRun> problems;
  for (const ProblemReport& problem : run.problems) {
    if (!is_cover_race(problem)) {
      problems.push_back({run, problem});
    }
  }
  return problems;
}

Json json_summary(const RunReport& run) {
  return {{"winners", json_list(problems_of(run), json_winner)},
          {"best_for_all", json_list(run.choices, json_common_choice)},
          {"workload", workload_json(run)}};
}

std::string winners_sentence(const RunReport& run) {
  const std::vector<ProblemOfRun> problems = problems_of(run);
  if (std::ranges::all_of(problems,
                          [](const ProblemOfRun& of) { return winner_of(of) == nullptr; })) {
    return "no configuration has a time";
  }
  if (problems.size() == 1) {
    return winner_sentence(problems.front());
  }
  return fmt::format("{}winners of {} on {}: {}{}", run.measured ? "" : "estimated ",
                     winners_scope(problems), run.device.name, counts_text(problems),
                     roofs_text(problems));
}

std::vector<std::string> choice_sentences(const RunReport& run) {
  return mapped(run.choices, [&](const CommonChoice& choice) { return choice_sentence(choice); });
}

}  // namespace fatune
