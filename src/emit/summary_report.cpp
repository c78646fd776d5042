#include "emit/summary_report.hpp"

#include <fmt/format.h>

#include "attention/flop.hpp"

namespace fatune {
namespace {

const auto time_us = [](const ProblemWinner& winner) {
  return winner.config.empty() ? std::nullopt : std::optional(winner.time_us);
};

const auto winner_tflops = [](const ProblemWinner& winner) {
  return winner.time_us > 0.0
             ? std::optional(literature_flop(winner.problem) / winner.time_us * kFlopPerUsToTflops)
             : std::nullopt;
};

template <double CommonChoice::*kMember>
const auto regret = [](const CommonChoice& choice) {
  return choice.config.empty() ? std::nullopt : std::optional(choice.*kMember);
};

std::string problem_name(const ProblemWinner& winner) {
  return describe(winner.problem) +
         (winner.run == 1 ? std::string() : fmt::format(", run {}", winner.run));
}

Json json_winner(const ProblemWinner& winner) {
  Json json = json_object(problem_winner_fields(), winner);
  json["problem"] = json_problem(winner.problem);
  return json;
}

Json json_choice(const CommonChoice& choice) {
  Json json = json_object(common_choice_fields(), choice);
  json["worst_problem"] =
      choice.config.empty() ? Json(nullptr) : json_problem(choice.worst_problem);
  return json;
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

}  // namespace

const std::vector<Field<ProblemWinner>>& problem_winner_fields() {
  using W = ProblemWinner;
  static const std::vector<Field<W>> fields{
      {"problem", "problem", "the problem that was measured or estimated", 0, kEverywhere,
       [](const W& w) { return problem_name(w); }, ColumnFit{.least = 14}},
      {"run", "run", "number of the repetition of the whole measurement, from 1", 0, kForPrograms,
       [](const W& w) { return w.run; }},
      {"winner", "winner", "short form of the fastest configuration; null: nothing is ranked", 0,
       kEverywhere, [](const W& w) { return text_or_none(w.config); },
       ColumnFit{.least = 24, .config = true}},
      {"family", "family", "kernel family of the winner; null: nothing is ranked", 0, kForPrograms,
       [](const W& w) { return text_or_none(w.family); }},
      {"time_us", "us",
       "median time of the winner in microseconds, or its estimate; null: nothing is ranked", 1,
       kEverywhere, time_us},
      {"literature_tflops", "TFLOP/s",
       "rate of the winner in 10^12 FLOP per second by the literature's convention; null: nothing "
       "is ranked",
       1, kEverywhere, winner_tflops, ColumnFit{.leaves = 1}},
      {"lead_percent", "lead %",
       "by how many percent the runner-up is slower than the winner; null: there is no runner-up",
       2, kEverywhere, [](const W& w) { return w.lead_percent; }},
      {"tied", "tie", "whether the runner-up cannot be told apart from the winner", 0, kEverywhere,
       member<&W::tied>},
  };
  return fields;
}

const std::vector<Field<CommonChoice>>& common_choice_fields() {
  using C = CommonChoice;
  static const std::vector<Field<C>> fields{
      {"dtype", "dtype", "element type of the problems", 0, kEverywhere,
       [](const C& c) { return std::string(dtype_name(c.dtype)); }},
      {"d_head", "d_head", "head dimension of the problems", 0, kEverywhere, member<&C::d_head>},
      {"problems", "problems",
       "number of problems that the configuration is chosen for, counting each repetition", 0,
       kEverywhere, [](const C& c) { return c.problems; }},
      {"config", "config",
       "short form of the configuration that is best for all the problems; null: none is ranked on "
       "all of them",
       0, kEverywhere, [](const C& c) { return text_or_none(c.config); }},
      {"family", "family",
       "kernel family of the configuration; null: none is ranked on all the problems", 0,
       kForPrograms, [](const C& c) { return text_or_none(c.family); }},
      {"mean_regret_percent", "mean %",
       "by how many percent the configuration is slower than the winners: geometric mean over the "
       "problems",
       2, kEverywhere, regret<&C::mean_regret_percent>},
      {"worst_regret_percent", "worst %",
       "by how many percent the configuration is slower than the winner, on the problem where this "
       "is greatest",
       2, kEverywhere, regret<&C::worst_regret_percent>},
  };
  return fields;
}

Json json_summary(const WinnersSummary& summary) {
  return {{"winners", json_list(summary.winners, json_winner)},
          {"best_for_all", json_list(summary.choices, [](const CommonChoice& choice) {
             return json_choice(choice);
           })}};
}

Table summary_table(const WinnersSummary& summary) {
  return table_of(problem_winner_fields(), summary.winners);
}

std::vector<std::string> choice_sentences(const WinnersSummary& summary) {
  std::vector<std::string> sentences;
  for (const CommonChoice& choice : summary.choices) {
    sentences.push_back(choice_sentence(choice));
  }
  return sentences;
}

}  // namespace fatune
