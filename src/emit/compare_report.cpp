#include "emit/compare_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/mapped.hpp"
#include "core/text_parts.hpp"
#include "emit/document/table.hpp"

namespace fatune {
namespace {

constexpr std::array kChanges{Change::wrong,    Change::slower,    Change::faster,
                              Change::repaired, Change::undecided, Change::equal,
                              Change::gone,     Change::added,     Change::failing};

std::vector<RunRow> run_rows(const CompareReport& report) {
  return {{"OLD", &report.old_run}, {"NEW", &report.new_run}};
}

std::vector<ConfigRow> config_rows(const CompareReport& report, std::size_t most = 0) {
  const std::vector<ComparedConfig>& configs = report.comparison.configs;
  const std::size_t count = most == 0 ? configs.size() : std::min(most, configs.size());
  std::vector<ConfigRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back({&report.comparison, &configs[i]});
  }
  return rows;
}

using Configs = std::span<const ComparedConfig>;

std::ptrdiff_t count_of(Configs configs, Change change) {
  return std::ranges::count(configs, change, &ComparedConfig::change);
}

/// "2 slower, 40 equal": the verdicts that occur, with their counts.
std::string counts_text(Configs configs) {
  std::vector<std::string> parts;
  for (const Change change : kChanges) {
    if (const std::ptrdiff_t count = count_of(configs, change); count > 0) {
      parts.push_back(fmt::format("{} {}", count, change_name(change)));
    }
  }
  return parts.empty() ? "nothing to compare" : joined(parts, ", ");
}

/// Whether the sources of a family that both runs have differ.
bool has_other_sources(const SourceHashes& before, const SourceHashes& after) {
  return std::ranges::any_of(before, [&](const auto& source) {
    const auto found = after.find(source.first);
    return found != after.end() && found->second != source.second;
  });
}

/// The names of what the two runs were made with and that differs.
std::vector<std::string> differences_of(const CompareReport& report) {
  const RunReport& before = report.old_run.report;
  const RunReport& after = report.new_run.report;
  const Toolchain& old_tools = before.toolchain;
  const Toolchain& new_tools = after.toolchain;
  std::vector<std::string> names;
  for (const auto& [name, differs] :
       {std::pair{"GPU model", before.device.name != after.device.name},
        {"driver", old_tools.driver_release != new_tools.driver_release},
        {"driver's CUDA", old_tools.driver_version != new_tools.driver_version},
        {"NVRTC", old_tools.nvrtc_version != new_tools.nvrtc_version},
        {"fatune version", old_tools.fatune_version != new_tools.fatune_version},
        {"sources of the kernels", has_other_sources(before.source_hashes, after.source_hashes)}}) {
    if (differs) {
      names.emplace_back(name);
    }
  }
  return names;
}

/// By how many percent the SM clock is higher in NEW, on the problem where it differs the most;
/// 0: not known.
double clock_change_percent(const CompareReport& report) {
  double greatest = 0.0;
  for (const ComparedProblem& problem : report.comparison.problems) {
    if (problem.old_sm_mhz.value_or(0.0) > 0.0 && problem.new_sm_mhz) {
      const double change = 100.0 * (*problem.new_sm_mhz / *problem.old_sm_mhz - 1.0);
      greatest = std::abs(change) > std::abs(greatest) ? change : greatest;
    }
  }
  return greatest;
}

std::string_view refusal_text(Refusal refusal) {
  switch (refusal) {
    case Refusal::same_run:
      return "NOT JUDGED: OLD and NEW are the same run";
    case Refusal::other_device:
      return "NOT JUDGED: the runs are from different GPU models; times are shown, but no verdict "
             "rests on them";
    case Refusal::not_measured:
      return "NOT JUDGED: times of one of the runs are estimates; no verdict rests on them";
    case Refusal::none:
      break;
  }
  return "";
}

/// "NEW lacks 69 of OLD's 72 problems"; empty if it lacks none.
std::string missing_text(const RunComparison& comparison) {
  const std::size_t missing = comparison.missing.size();
  return missing == 0 ? std::string()
                      : fmt::format("NEW lacks {} of OLD's {} problems", missing,
                                    missing + comparison.problems.size());
}

Blocks warnings_of(const CompareReport& report) {
  Blocks blocks;
  if (const std::string missing = missing_text(report.comparison); !missing.empty()) {
    append(blocks, {block::Warning{missing}, block::ParagraphEnd{}});
  }
  if (const Refusal refusal = report.comparison.refusal; refusal != Refusal::none) {
    append(blocks, {block::Warning{std::string(refusal_text(refusal))}, block::ParagraphEnd{}});
  }
  if (const auto names = differences_of(report); !names.empty()) {
    append(blocks,
           {block::Warning{"the runs differ in: " + joined(names, ", ")}, block::ParagraphEnd{}});
  }
  constexpr double kWorthSaying = 1.0;
  if (const double clock = clock_change_percent(report); std::abs(clock) >= kWorthSaying) {
    append(blocks,
           {block::Warning{fmt::format("the SM clock differs: by {:+.1f} % at the most", clock)},
            block::ParagraphEnd{}});
  }
  return blocks;
}

/// The drift of the run as a whole, in words.
Blocks drift_of(const CompareReport& report) {
  const Movement& movement = report.comparison.movement;
  if (movement.changes == 0) {
    return {block::Text{"no configuration has a time in both runs\n"}, block::ParagraphEnd{}};
  }
  const double drift = percent_of(movement.log_drift);
  std::string text = fmt::format("NEW as a whole is {:.1f} % {}, the median of {}", std::abs(drift),
                                 drift < 0.0 ? "faster" : "slower", movement.changes);
  if (report.comparison.refusal != Refusal::none) {
    return {block::Text{text + ".\n"}, block::ParagraphEnd{}};
  }
  text += ": heat, power, clocks, the driver, or all kernels.";
  if (std::abs(drift) <= report.comparison.tolerance_percent) {
    return {block::Text{text + " Verdicts leave each problem's drift out.\n"},
            block::ParagraphEnd{}};
  }
  return {block::Warning{text},
          block::Text{"Two separate runs cannot tell which: configurations that moved as all "
                      "others did are undecided. fatune sweep --against FILE measures old winners "
                      "in the same rounds.\n"},
          block::ParagraphEnd{}};
}

Block gate_of(const CompareReport& report) {
  const RunComparison& comparison = report.comparison;
  if (comparison.refusal != Refusal::none) {
    return block::Warning{std::string(refusal_text(comparison.refusal))};
  }
  const auto slower =
      std::ranges::count(comparison.configs, true, &ComparedConfig::beyond_tolerance);
  if (is_worse(comparison)) {
    return block::Warning{fmt::format("WORSE: {} slower by more than {} % beyond doubt, {} wrong",
                                      slower, comparison.tolerance_percent,
                                      count_of(comparison.configs, Change::wrong))};
  }
  const std::string fine =
      fmt::format("nothing is slower by more than {} % beyond doubt, nothing wrong",
                  comparison.tolerance_percent);
  if (const std::string missing = missing_text(comparison); !missing.empty()) {
    return block::Warning{fmt::format("INCOMPLETE: of what both have, {}; but {}", fine, missing)};
  }
  return block::Text{fine + "\n"};
}

std::string left_out_text(Configs left_out) {
  return left_out.empty() ? std::string()
                          : fmt::format("... and {} more: {} (--rows 0 shows all)\n",
                                        left_out.size(), counts_text(left_out));
}

Blocks configs_of(const CompareReport& report) {
  const Configs all = report.comparison.configs;
  const std::vector<ConfigRow> rows = config_rows(report, report.most_rows);
  return {block::Text{"\n"}, block::Heading{fmt::format("configurations: {}", counts_text(all))},
          block::Rows{table_of(compared_config_fields(), rows)}, block::ParagraphEnd{},
          block::Text{left_out_text(all.subspan(rows.size()))}};
}

Blocks problems_of(const CompareReport& report) {
  const RunComparison& comparison = report.comparison;
  const auto changed =
      std::ranges::count(comparison.problems, WinnerChange::changed, &ComparedProblem::winner);
  Blocks blocks{
      block::Text{"\n"},
      block::Heading{fmt::format("winners: {} of {} changed", changed, comparison.problems.size())},
      block::Rows{table_of(compared_problem_fields(), comparison.problems)}};
  for (const auto& [run, count] :
       {std::pair{"OLD", comparison.missing.size()}, std::pair{"NEW", comparison.added_problems}}) {
    if (count > 0) {
      append(blocks, {block::ParagraphEnd{},
                      block::Text{fmt::format("problems that only {} has: {}\n", run, count)}});
    }
  }
  return blocks;
}

Blocks blocks_of_comparison(const CompareReport& report) {
  Blocks blocks{block::Heading{"NEW against OLD"},
                block::Rows{table_of(compared_run_fields(), run_rows(report))},
                block::ParagraphEnd{}};
  for (Blocks part :
       {warnings_of(report), drift_of(report), problems_of(report), configs_of(report)}) {
    append(blocks, std::move(part));
  }
  append(blocks, {block::Text{"\n"}, gate_of(report)});
  return blocks;
}

Json counts_json(const CompareReport& report) {
  Json counts = Json::object();
  for (const Change change : kChanges) {
    counts[std::string(change_name(change))] = count_of(report.comparison.configs, change);
  }
  return counts;
}

Json refusal_json(const CompareReport& report) {
  switch (report.comparison.refusal) {
    case Refusal::same_run:
      return "same_run";
    case Refusal::other_device:
      return "other_device";
    case Refusal::not_measured:
      return "not_measured";
    case Refusal::none:
      break;
  }
  return nullptr;
}

}  // namespace

const Properties<CompareReport>& compare_properties() {
  using R = CompareReport;
  static const Properties<R> properties{
      {"old", "", [](const R& r) { return json_object(compared_run_fields(), run_rows(r)[0]); }},
      {"new", "", [](const R& r) { return json_object(compared_run_fields(), run_rows(r)[1]); }},
      {"worse",
       "whether a configuration is slower by more than the tolerance beyond doubt, or wrong; the "
       "exit code is then 12",
       [](const R& r) { return is_worse(r.comparison); }},
      {"not_judged_because",
       "same_run: both are the same run; other_device: the runs are of different GPU models; "
       "not_measured: a run's times are estimates; null: times were judged",
       [](const R& r) { return refusal_json(r); }},
      {"differences",
       "names of what the two runs were made with and that differs, such as driver or NVRTC",
       [](const R& r) { return differences_of(r); }},
      {"tolerance_percent", "by how many percent a configuration may be slower without being worse",
       [](const R& r) { return r.comparison.tolerance_percent; }},
      {"drift_percent",
       "by how many percent the new run as a whole is slower: the median over the configurations "
       "that both runs measured",
       [](const R& r) { return percent_of(r.comparison.movement.log_drift); }},
      {"drift_of", "number of configurations that drift_percent is the median of",
       [](const R& r) { return r.comparison.movement.changes; }},
      {"missing_problems",
       "problems that only the old run has; unless something is worse, the exit code is then 14",
       [](const R& r) {
         return mapped(r.comparison.missing,
                       [](const ComparedProblem& problem) { return describe(problem); });
       }},
      {"problems_of_one", "number of problems that only one of the runs has",
       [](const R& r) { return r.comparison.missing.size() + r.comparison.added_problems; }},
      {"counts", "number of configurations with each verdict",
       [](const R& r) { return counts_json(r); }},
      {"problems", "problems that both runs have",
       [](const R& r) { return json_rows(compared_problem_fields(), r.comparison.problems); }},
      {"configs", "all configurations, by verdict, then with the greatest change first",
       [](const R& r) { return json_rows(compared_config_fields(), config_rows(r)); }},
  };
  return properties;
}

Document compare_document(const CompareReport& report) {
  return {[&report] { return blocks_of_comparison(report); },
          [&report] { return table_of(compared_config_fields(), config_rows(report)); },
          [&report] {
            Json json = json_head("compare");
            json.update(json_object(compare_properties(), report));
            return json;
          }};
}

}  // namespace fatune
