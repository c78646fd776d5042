#include "emit/plots/study_document.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include "emit/document/table.hpp"
#include "emit/peers_text.hpp"
#include "emit/plots/configuration_table.hpp"
#include "emit/plots/plots.hpp"
#include "emit/plots/study_tables.hpp"
#include "emit/winners_table.hpp"

namespace fatune {
namespace {

constexpr std::size_t kOpenRankings = 4;
constexpr std::size_t kMostRankings = 24;
constexpr std::size_t kShownOfRanking = 16;
constexpr std::size_t kOpenParameters = 3;
constexpr std::size_t kMostRaces = 12;

/// Adds a figure without its command, which name_figures() sets.
void add_figure(Blocks& blocks, Plot plot) { blocks.push_back(block::Figure{std::move(plot), {}}); }

/// A short name of letters, digits, '_' and '-', for use in file names.
std::string safe_name(std::string_view name) {
  constexpr std::size_t kMostLetters = 60;
  std::string safe;
  for (const char c : name.substr(0, kMostLetters)) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    safe += is_plain ? c : '-';
  }
  return safe;
}

/// Gives each figure its command and a unique name, even if the names it was made from repeat.
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

void add_figures(Blocks& blocks, std::vector<Plot> plots) {
  for (Plot& plot : plots) {
    add_figure(blocks, std::move(plot));
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

/// Adds plots, those after the first `open` inside a fold.
void add_folded(Blocks& blocks, std::vector<Plot> plots, std::size_t open,
                const std::string& rest) {
  for (std::size_t i = 0; i < plots.size(); ++i) {
    if (i == open) {
      blocks.push_back(block::Fold{fmt::format("{} more {}", plots.size() - open, rest)});
    }
    add_figure(blocks, std::move(plots[i]));
  }
  if (plots.size() > open) {
    blocks.push_back(block::FoldEnd{});
  }
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

Blocks throughput_section(const StudyReport& report) {
  std::vector<Plot> plots = throughput_plots(report);
  if (plots.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"Speed against length"}};
  add_folded(blocks, std::move(plots), kOpenRankings, "kinds of problems");
  add_table(blocks, peers_table(report));
  return blocks;
}

Blocks rankings_section(const StudyReport& report) {
  const std::vector<RankedProblem> problems = ranked_problems(report);
  if (problems.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"Rankings"}};
  std::vector<Plot> plots;
  for (std::size_t i = 0; i < std::min(problems.size(), kMostRankings); ++i) {
    plots.push_back(ranking_plot(*problems[i].problem, fmt::format("ranking-{}", i + 1),
                                 problems[i].title, kShownOfRanking));
  }
  if (problems.size() > kMostRankings) {
    blocks.push_back(block::Text{
        fmt::format("The first {} of {} problems. The table of configurations has the others.\n",
                    kMostRankings, problems.size())});
  }
  add_folded(blocks, std::move(plots), kOpenRankings, "problems");
  return blocks;
}

Blocks parameters_section(const StudyReport& report) {
  const std::vector<ParameterStudy> studies = study_parameters(report.runs);
  if (studies.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"What each parameter does"},
                block::Text{"Parameters whose change alone affects the time most come first.\n"}};
  std::vector<Plot> plots;
  std::size_t open = 0;
  for (std::size_t i = 0; i < studies.size(); ++i) {
    for (Plot& plot : parameter_plots(studies[i])) {
      plots.push_back(std::move(plot));
    }
    open = i < kOpenParameters ? plots.size() : open;
  }
  add_folded(blocks, std::move(plots), open, "figures");
  return blocks;
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
  Blocks blocks;
  add_figures(blocks, resource_plots(rows));
  add_figures(blocks, roofline_plots(report));
  if (!blocks.empty()) {
    blocks.insert(blocks.begin(), block::Heading{"Resources and limits"});
  }
  return blocks;
}

Blocks races_section(const StudyReport& report) {
  std::vector<Plot> plots;
  const std::vector<RankedProblem> problems = ranked_problems(report);
  for (std::size_t i = 0; i < std::min(problems.size(), kMostRaces); ++i) {
    for (Plot& plot : race_plots(*problems[i].problem, std::to_string(i + 1), problems[i].title)) {
      plots.push_back(std::move(plot));
    }
    for (Plot& plot :
         search_plots(*problems[i].problem, std::to_string(i + 1), problems[i].title)) {
      plots.push_back(std::move(plot));
    }
  }
  Table table = measuring_table(report);
  if (plots.empty() && table.rows.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"What the race did"}};
  add_folded(blocks, std::move(plots), 2, "figures");
  add_table(blocks, std::move(table));
  return blocks;
}

Blocks conditions_section(const StudyReport& report) {
  std::vector<Plot> plots = condition_plots(report);
  if (plots.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"The GPU during the run"}};
  add_figures(blocks, std::move(plots));
  return blocks;
}

Blocks failures_section(const StudyReport& report) {
  Table table = failures_table(report);
  if (table.rows.empty()) {
    return {};
  }
  Blocks blocks{
      block::Heading{"What is not in the rankings"},
      block::Text{"One line for each reason; rules dropped those that are pruned, because "
                  "of the problem. results.csv has every configuration.\n"}};
  add_table(blocks, std::move(table));
  return blocks;
}

Blocks rules_section(const StudyReport& report) {
  Table counts = dropped_table(report);
  if (counts.rows.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"What the rules dropped"},
                block::Text{"'fatune list --pruned' names the rule that dropped each configuration "
                            "of a space, and its reason.\n"}};
  add_table(blocks, std::move(counts));
  add_table(blocks, rules_table(report));
  add_table(blocks, audit_table(report));
  return blocks;
}

Blocks code_section(const StudyReport& report) {
  std::vector<Plot> plots = code_plots(report);
  if (plots.empty()) {
    return {};
  }
  Blocks blocks{block::Heading{"Machine code and time"}};
  add_folded(blocks, std::move(plots), kOpenRankings, "problems");
  return blocks;
}

Blocks method_section(const StudyReport& report) {
  const bool measured = std::ranges::any_of(report.runs, &RunReport::measured);
  Blocks blocks{block::Heading{
      fmt::format("How it was {}, and how to repeat it", measured ? "measured" : "estimated")}};
  add_table(blocks, method_table(report));
  std::string commands;
  for (const RunReport& run : report.runs) {
    commands += run.command_line + "\n";
  }
  for (const PeerStudy& peers : report.peers) {
    commands += peers.command_line + "\n";
  }
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
    if (std::ranges::find(devices, run.device.name) == devices.end()) {
      devices.push_back(run.device.name);
    }
    lead += (report.runs.size() == 1 ? "" : report.names[i] + ": ") + winners_sentence(run) + ". ";
  }
  for (const PeerStudy& peers : report.peers) {
    lead += peers_sentence(peers);
  }
  const std::string runs =
      report.runs.size() == 1 ? report.names.front() : fmt::format("{} runs", report.runs.size());
  return {fmt::format("fatune: {} on {}", runs, fmt::join(devices, ", ")), as_sentence(lead),
          warnings_of(report)};
}

Blocks study_blocks(const StudyReport& report) {
  const StudyRows rows = study_rows(report.runs, report.most_rows);
  Blocks blocks;
  for (Blocks section :
       {winners_section(report), throughput_section(report), rankings_section(report),
        parameters_section(report), configurations_section(report, rows),
        resources_section(report, rows), races_section(report), conditions_section(report),
        failures_section(report), rules_section(report), code_section(report),
        method_section(report)}) {
    append(blocks, std::move(section));
  }
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
  for (Plot& plot : plots) {
    blocks.push_back(block::Figure{std::move(plot), {}});
  }
  for (const RankedProblem& ranked : ranked_problems(report)) {
    blocks.push_back(
        block::Figure{ranking_plot(*ranked.problem, "ranking", ranked.title, kShownOfRanking), {}});
  }
  return blocks;
}

}  // namespace fatune
