#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "print/figures/plots.hpp"

#include <cctype>
#include <limits>

#include <fmt/format.h>

#include "print/comparisons.hpp"
#include "print/workload_report.hpp"

namespace fatune {
namespace {

constexpr std::size_t kOpenRankings = 4;
constexpr std::size_t kMostRankings = 24;
constexpr std::size_t kShownOfRanking = 16;
constexpr std::size_t kOpenParameters = 3;
constexpr std::size_t kMostRaces = 12;

/// A short name of letters, digits, '_' and '-', for use in file names.
std::string safe_name(std::string_view name) {
  constexpr std::size_t kMostLetters = 60;
  std::string safe(name.substr(0, kMostLetters));
  std::ranges::replace_if(
      safe, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '-');
  return safe;
}

/// Gives each figure the command that draws it and a unique name, even if the names it was made
/// from repeat.
void name_figures(Blocks& blocks, const std::string& command) {
  std::map<std::string, int> uses;
  for (Block& block : blocks) {
    if (auto* figure = std::get_if<block::Figure>(&block)) {
      std::string name = safe_name(figure->plot.id);
      const int use = ++uses[name];
      figure->plot.id = use == 1 ? name : fmt::format("{}-{}", name, use);
      figure->command = fmt::format("{} --format svg --plot {}", command, figure->plot.id);
    }
  }
}

/// Adds a table, inside a fold if it is long.
void add_table(Blocks& blocks, Table table, Shown kind = Shown::in_ranking) {
  constexpr std::size_t kMostRows = 16;
  const std::size_t rows = table.rows.size();
  if (rows == 0) {
    return;
  }
  if (rows > kMostRows) {
    blocks.push_back(block::Fold{fmt::format("Table: {} rows", rows)});
  }
  blocks.push_back(block::Rows{std::move(table), kind});
  if (rows > kMostRows) {
    blocks.push_back(block::FoldEnd{});
  }
}

constexpr std::size_t kAllOpen = std::numeric_limits<std::size_t>::max();

/// Adds plots, those after the first `open` inside a fold.
void add_figures(Blocks& blocks, std::vector<Plot> plots, std::size_t open = kAllOpen,
                 const std::string& rest = {}) {
  for (std::size_t i = 0; i < plots.size(); ++i) {
    if (i == open) {
      blocks.push_back(block::Fold{fmt::format("{} more {}", plots.size() - open, rest)});
    }
    blocks.push_back(block::Figure{std::move(plots[i]), {}});
  }
  if (plots.size() > open) {
    blocks.push_back(block::FoldEnd{});
  }
}

/// A section with plots, of which the first `open` are shown at once, and a table.
struct Section {
  std::string heading;
  std::string text{};
  std::vector<Plot> plots{};
  std::size_t open = kAllOpen;
  std::string rest{};  ///< what the other plots are of
  Table table{};
};

/// Nothing for a section without plots and rows.
Blocks blocks_of(Section section) {
  if (section.plots.empty() && section.table.rows.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{section.heading}};
  if (!section.text.empty()) {
    blocks.push_back(block::Text{section.text});
  }
  add_figures(blocks, std::move(section.plots), section.open, section.rest);
  add_table(blocks, std::move(section.table));
  return blocks;
}

/// Begins with a capital letter and has no space at its end.
std::string as_sentence(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  }
  return text;
}

/// A problem that has a ranking, and a title that tells it apart in several runs.
struct RankedProblem {
  const ProblemReport* problem;
  std::string title;
};

std::vector<RankedProblem> ranked_problems(const StudyReport& report) {
  std::vector<RankedProblem> all;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    for (const ProblemReport& problem : report.runs[i].problems) {
      if (!problem.ranking.empty() && !is_cover_race(problem)) {
        const std::string run = report.runs.size() == 1 ? std::string() : ", " + report.names[i];
        const std::string repetition =
            problem.run == 1 ? std::string() : fmt::format(", repetition {}", problem.run);
        all.push_back(
            {&problem, fmt::format("{}{}{}", describe(problem.problem), repetition, run)});
      }
    }
  }
  return all;
}

std::vector<std::string> warnings_of(const StudyReport& report) {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    if (!run.measured) {
      warnings.push_back(report.names[i] +
                         ": NOT MEASURED. No GPU was used; every time is an estimate.");
      for (const auto& [family, sentence] : run.estimate_orders) {
        warnings.push_back(report.names[i] + ": " + sentence + ".");
      }
    }
    if (!run.complete) {
      warnings.push_back(report.names[i] +
                         ": INCOMPLETE. The run was stopped before it had done everything.");
    }
  }
  return warnings;
}

std::string counts_sentence(const StudyReport& report) {
  std::size_t problems = 0;
  std::size_t results = 0;
  for (const RunReport& run : report.runs) {
    problems += run.problems.size();
    for (const ProblemReport& problem : run.problems) {
      results += problem.ranking.size();
    }
  }
  return fmt::format(
      "{} ranked results of {} problem{}. Times are microseconds; TFLOP/s follow the literature's "
      "count. The nearer roof is the tensor cores' peak or the memory's bandwidth.\n",
      results, problems, problems == 1 ? "" : "s");
}

Blocks winners_section(const StudyReport& report) {
  Blocks blocks{
      block::Heading{"What won, and by how much"},
      block::Rows{.table = winners_table(report), .kind = Shown::everywhere, .stacked = true},
      block::Text{counts_sentence(report)}};
  add_table(blocks, runs_table(report));
  add_figures(blocks, change_maps(report));
  add_figures(blocks, winner_maps(report));
  return blocks;
}

/// What the calls of the workloads that were swept take, run by run.
Blocks workload_section(const StudyReport& report) {
  Blocks blocks;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    Blocks of_run = workload_blocks(report.runs[i]);
    if (!of_run.empty() && report.runs.size() > 1) {
      blocks.push_back(block::Text{report.names[i] + ":\n"});
    }
    append(blocks, of_run);
    add_figures(blocks, workload_plots(report.runs[i]));
  }
  return blocks.empty()
             ? blocks
             : joined_blocks({{block::Heading{"What all calls of the workload take"}}, blocks});
}

Blocks throughput_section(const StudyReport& report) {
  std::vector<Plot> plots = throughput_plots(report);
  return plots.empty() ? Blocks{}
                       : blocks_of({.heading = "Speed against length",
                                    .plots = std::move(plots),
                                    .open = kOpenRankings,
                                    .rest = "kinds of problems",
                                    .table = peers_table(report)});
}

Blocks rankings_section(const StudyReport& report) {
  const std::vector<RankedProblem> problems = ranked_problems(report);
  Section section{.heading = "Rankings", .open = kOpenRankings, .rest = "problems"};
  for (std::size_t i = 0; i < std::min(problems.size(), kMostRankings); ++i) {
    section.plots.push_back(ranking_plot(*problems[i].problem, fmt::format("ranking-{}", i + 1),
                                         problems[i].title, kShownOfRanking));
  }
  if (problems.size() > kMostRankings) {
    section.text =
        fmt::format("The first {} of {} problems. The table of configurations has the others.\n",
                    kMostRankings, problems.size());
  }
  return blocks_of(std::move(section));
}

Blocks parameters_section(const StudyReport& report) {
  const std::vector<ParameterStudy> studies = study_parameters(report.runs);
  Section section{.heading = "What each parameter does",
                  .text = "Parameters whose change alone affects the time most come first.\n",
                  .rest = "figures"};
  for (std::size_t i = 0; i < studies.size(); ++i) {
    append(section.plots, parameter_plots(studies[i]));
    section.open = i < kOpenParameters ? section.plots.size() : section.open;
  }
  return blocks_of(std::move(section));
}

std::string sample_text(const StudyRows& rows) {
  return rows.rows.size() == rows.all
             ? std::string()
             : fmt::format(
                   "A sample: {} of {} configurations. It has the same share of each "
                   "problem: half of that the fastest, the other half evenly spaced over "
                   "the rest of its ranking. --rows N takes more.\n",
                   rows.rows.size(), rows.all);
}

Blocks configurations_section(const StudyReport& report, const StudyRows& rows) {
  if (rows.rows.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"Configurations"}, block::Text{sample_text(rows)}};
  add_figures(blocks, parallel_plots(report, rows));
  blocks.push_back(block::Rows{.table = configuration_table(report, rows), .numbered = true});
  return blocks;
}

Blocks resources_section(const StudyReport& report, const StudyRows& rows) {
  Section section{.heading = "Resources and limits", .plots = resource_plots(rows)};
  append(section.plots, roofline_plots(report));
  return blocks_of(std::move(section));
}

Blocks races_section(const StudyReport& report) {
  Section section{.heading = "What the race did",
                  .open = 2,
                  .rest = "figures",
                  .table = measuring_table(report)};
  const std::vector<RankedProblem> problems = ranked_problems(report);
  for (std::size_t i = 0; i < std::min(problems.size(), kMostRaces); ++i) {
    const std::string id = std::to_string(i + 1);
    append(section.plots, race_plots(*problems[i].problem, id, problems[i].title));
    append(section.plots, search_plots(*problems[i].problem, id, problems[i].title));
  }
  return blocks_of(std::move(section));
}

Blocks failures_section(const StudyReport& report) {
  return blocks_of({.heading = "What is not in the rankings",
                    .text =
                        "One line for each reason; rules dropped those that are pruned, because "
                        "of the problem. results.csv has every configuration.\n",
                    .table = failures_table(report)});
}

Blocks rules_section(const StudyReport& report) {
  Blocks blocks =
      blocks_of({.heading = "What the rules dropped",
                 .text = "'fatune list --pruned' names the rule that dropped each configuration "
                         "of a space, and its reason.\n",
                 .table = dropped_table(report)});
  if (!blocks.empty()) {
    add_table(blocks, rules_table(report));
    add_table(blocks, audit_table(report));
  }
  return blocks;
}

Blocks method_section(const StudyReport& report) {
  const bool measured = std::ranges::any_of(report.runs, &RunReport::measured);
  Blocks blocks{block::Heading{
      fmt::format("How it was {}, and how to repeat it", measured ? "measured" : "estimated")}};
  add_table(blocks, method_table(report));
  const auto command_of = [](const auto& one) { return one.command_line + "\n"; };
  const std::string commands =
      joined(report.runs, "", command_of) + joined(report.peers, "", command_of);
  append(blocks, {block::Text{"The commands, and the one that made this report:\n"},
                  block::Verbatim{commands + report.command + "\n"}});
  return blocks;
}

}  // namespace

PageHead study_head(const StudyReport& report) {
  std::vector<std::string> devices;
  std::string lead;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    append_new(devices, run.device.name);
    lead += (report.runs.size() == 1 ? "" : report.names[i] + ": ") + winners_sentence(run) + ". ";
  }
  lead += joined(report.peers, "", peers_sentence);
  const std::string runs =
      report.runs.size() == 1 ? report.names.front() : fmt::format("{} runs", report.runs.size());
  return {fmt::format("fatune: {} on {}", runs, fmt::join(devices, ", ")), as_sentence(lead),
          warnings_of(report)};
}

Blocks study_blocks(const StudyReport& report) {
  const StudyRows rows = study_rows(report.runs, report.most_rows);
  Blocks blocks = joined_blocks(
      {winners_section(report), workload_section(report), throughput_section(report),
       rankings_section(report), parameters_section(report), configurations_section(report, rows),
       resources_section(report, rows), races_section(report),
       blocks_of({.heading = "The GPU during the run", .plots = condition_plots(report)}),
       failures_section(report), rules_section(report),
       blocks_of({.heading = "Machine code and time",
                  .plots = code_plots(report),
                  .open = kOpenRankings,
                  .rest = "problems"}),
       method_section(report)});
  name_figures(blocks, report.command);
  return blocks;
}

std::vector<Plot> study_plots(const StudyReport& report) {
  std::vector<Plot> plots;
  for (Block& block : study_blocks(report)) {
    if (auto* figure = std::get_if<block::Figure>(&block)) {
      plots.push_back(std::move(figure->plot));
    }
  }
  return plots;
}

Blocks main_plots(const RunReport& run) {
  StudyReport report;
  report.runs.push_back(run);
  report.names.emplace_back("run");
  Blocks blocks;
  std::vector<Plot> plots = throughput_plots(report);
  if (plots.empty()) {
    plots = run.problems.size() > 1 ? winner_maps(report) : std::vector<Plot>{};
  }
  for (const RankedProblem& ranked : ranked_problems(report)) {
    plots.push_back(ranking_plot(*ranked.problem, "ranking", ranked.title, kShownOfRanking));
  }
  add_figures(blocks, std::move(plots));
  return blocks;
}

}  // namespace fatune
