#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "print/comparisons.hpp"
#include "print/figures/plots.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

/// A column's heading, and the decimals of its numbers.
struct Title {
  // NOLINTNEXTLINE(google-explicit-constructor): a heading alone stands for itself in lists
  Title(const char* text, int most_decimals = 0) : heading(text), decimals(most_decimals) {}

  const char* heading;
  int decimals;
};

Table titled(std::initializer_list<Title> titles) {
  Table table;
  for (const Title& title : titles) {
    table.columns.push_back(
        {.name = title.heading, .heading = title.heading, .look = {.decimals = title.decimals}});
  }
  return table;
}

template <typename Number>
FieldValue count_value(Number count) {
  return static_cast<std::int64_t>(count);
}

std::string name_of(const ProblemReport& problem) {
  return describe(problem.problem) +
         (problem.run == 1 ? std::string() : fmt::format(", repetition {}", problem.run));
}

/// Calls `visit` for each problem with its run and the name of the run, which is empty if there is
/// only one run.
template <typename Visit>
void for_each_problem(const StudyReport& report, const Visit& visit) {
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const FieldValue name = report.runs.size() == 1 ? FieldValue{} : FieldValue{report.names[i]};
    for (const ProblemReport& problem : report.runs[i].problems) {
      visit(name, report.runs[i], problem);
    }
  }
}

/// A table of the rows that `rows_of` makes of each run, with the run's name if there are several.
template <typename Row>
Table of_all_runs(const StudyReport& report, const Fields<Row>& fields,
                  std::vector<Row> (*rows_of)(const RunReport&)) {
  std::vector<Row> rows;
  std::vector<FieldValue> names;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    for (Row& row : rows_of(report.runs[i])) {
      rows.push_back(row);
      names.emplace_back(report.names[i]);
    }
  }
  Table table = table_of(fields, rows);
  if (report.runs.size() > 1) {
    insert_column(table, 0, {.name = "run", .heading = "run"}, std::move(names));
  }
  return table;
}

/// For each GPU and peer, how many times as fast the winners were in the same rounds, problem by
/// problem.
std::map<std::pair<std::string, std::string>, std::vector<double>> ratios_by_peer(
    const StudyReport& report) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  for (const PeerStudy& study : report.peers) {
    for (const PeerProblem& timed : study.problems) {
      for (const PeerFigure& figure : timed.figures) {
        if (timed.winner_tflops && figure.literature_tflops > 0.0) {
          ratios[{study.device, figure.peer}].push_back(*timed.winner_tflops /
                                                        figure.literature_tflops);
        }
      }
    }
  }
  return ratios;
}

double geometric_mean(const std::vector<double>& values) {
  const auto log_sum = sum_of<double>(values, [](double value) { return std::log(value); });
  return std::exp(log_sum / static_cast<double>(values.size()));
}

std::int64_t count_outcome(const ProblemReport& problem, OutcomeKind kind) {
  return std::ranges::count_if(
      problem.failures, [&](const Result& result) { return outcome_kind(result.outcome) == kind; });
}

std::vector<std::pair<std::string, std::string>> facts_of(const RunReport& run) {
  const MeasurePolicy& policy = run.policy;
  std::vector<std::pair<std::string, std::string>> facts{
      {"device", fmt::format("{} ({}, {} SMs)", run.device.name, arch_name(run.device.arch),
                             run.device.sm_count)},
      {"started", run.started_at},
      {"took", fmt::format("{:.1f} s", run.wall_s)},
      {"kernels", run.family},
      {"space", run.space},
      {"fatune", run.toolchain.fatune_version},
      {"NVRTC", run.toolchain.nvrtc_version},
      {"driver",
       fmt::format("{} (CUDA {})", run.toolchain.driver_release, run.toolchain.driver_version)}};
  if (run.shard) {
    facts.emplace_back("shard", shard_text(*run.shard));
  }
  if (!run.imported_from.empty()) {
    facts.emplace_back("times of", run.imported_from);
  } else if (run.measured) {
    facts.emplace_back(
        "samples",
        fmt::format("{}, L2 {}, gate {}, {} launches", enum_name(policy.strategy),
                    policy.flush_l2 ? "flushed" : "warm", policy.device_gate ? "on" : "off",
                    policy.cuda_graph ? "graph" : "plain"));
    facts.emplace_back("precision", fmt::format("{:g} % of the median, confidence {:g}",
                                                100.0 * policy.target_ci, policy.confidence));
    facts.emplace_back("seed", std::to_string(policy.seed));
  }
  for (const auto& [family, hash] : run.source_hashes) {
    facts.emplace_back("sources of " + family, hash);
  }
  std::erase_if(facts,
                [](const auto& fact) { return fact.second.empty() || fact.second == " (CUDA )"; });
  return facts;
}

/// Whether the result of `get` differs between rows.
template <typename Get>
bool differs(const std::vector<ResultRow>& rows, Get get) {
  return std::ranges::any_of(rows,
                             [&](const ResultRow& row) { return get(row) != get(rows.front()); });
}

/// Inserts a column in front of the table if it has more than one value.
template <typename Get>
void add_origin(const std::vector<ResultRow>& rows, const char* name, Get get, Table& table) {
  if (!differs(rows, get)) {
    return;
  }
  std::vector<FieldValue> values =
      mapped(rows, [&](const ResultRow& row) { return FieldValue(std::string(get(row))); });
  insert_column(table, 0, {.name = name, .heading = name}, std::move(values));
}

/// Leaves out the columns from `first_column` on in which all rows have the same value.
void leave_out_the_same(Table& table, std::size_t first_column) {
  for (std::size_t i = table.columns.size(); i-- > first_column;) {
    const bool same = std::ranges::all_of(
        table.rows, [&](const auto& row) { return row[i] == table.rows.front()[i]; });
    if (same) {
      table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto& row : table.rows) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

}  // namespace

Table winners_table(const StudyReport& report) {
  std::vector<ProblemOfRun> problems;
  for (const RunReport& run : report.runs) {
    for (const ProblemOfRun& of : problems_of(run)) {
      problems.push_back(of);
    }
  }
  return of_all_runs<ProblemOfRun>(report, winner_fields_for_people(problems), problems_of);
}

Table runs_table(const StudyReport& report) {
  if (report.runs.size() == 1) {
    return {};
  }
  Table table = titled({"run", "device", "started", "kernels", "times"});
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    const RunReport& run = report.runs[i];
    table.rows.push_back({report.names[i], run.device.name, run.started_at, run.family,
                          std::string(run.measured ? "measured" : "estimated")});
  }
  return table;
}

Table peers_table(const StudyReport& report) {
  Table table =
      titled({"GPU", "peer", "problems", Title("winners are times as fast (geometric mean)", 3),
              Title("least", 3), Title("greatest", 3), "problems on which the peer is faster"});
  for (const auto& [timed, ratios] : ratios_by_peer(report)) {
    const auto [least, greatest] = std::ranges::minmax(ratios);
    const auto slower = std::ranges::count_if(ratios, [](double ratio) { return ratio < 1.0; });
    table.rows.push_back({timed.first, timed.second, count_value(ratios.size()),
                          geometric_mean(ratios), least, greatest, count_value(slower)});
  }
  return table;
}

Table measuring_table(const StudyReport& report) {
  Table table =
      titled({"run", "problem", "samples", "rounds", "finals", "retaken", Title("drift %", 1),
              Title("seconds", 1), "ended because", "MHz", "W", "C", "throttled by", "warnings"});
  for_each_problem(report, [&](const FieldValue& run_name, const RunReport& run,
                               const ProblemReport& problem) {
    if (!problem.measuring) {
      return;
    }
    const MeasuringSummary& m = *problem.measuring;
    const GpuConditions c = problem.conditions.value_or(GpuConditions{});
    const auto read = [&](double value) {
      return run.measured && problem.conditions ? FieldValue{value} : FieldValue{};
    };
    table.rows.push_back({run_name, name_of(problem), m.samples_taken, count_value(m.rounds),
                          count_value(m.final_rounds), m.samples_retaken, m.drift_percent,
                          m.elapsed_s, std::string(enum_name(m.stopped_because)),
                          read(c.sm_mhz_median), read(c.power_w_median), read(c.temperature_c_max),
                          fmt::format("{}", fmt::join(c.throttle_reasons, ", ")),
                          fmt::format("{}", fmt::join(m.warnings, "; "))});
  });
  return table;
}

Table failures_table(const StudyReport& report) {
  return of_all_runs<FailureGroup>(report, failure_group_fields(), failure_groups);
}

Table dropped_table(const StudyReport& report) {
  Table table = titled({"run", "problem", "ranked", "failed", "dropped by rules",
                        "of these for this length", "cannot be built"});
  for_each_problem(
      report, [&](const FieldValue& run_name, const RunReport&, const ProblemReport& problem) {
        if (problem.pruned > 0 || problem.invalid > 0) {
          table.rows.push_back({run_name, name_of(problem), count_value(problem.ranking.size()),
                                count_value(count_failed(problem)), problem.pruned,
                                count_outcome(problem, OutcomeKind::pruned), problem.invalid});
        }
      });
  return table;
}

Table rules_table(const StudyReport& report) {
  Table table = titled({"run", "rule", "dropped", "on problems"});
  std::map<std::pair<FieldValue, std::string>, std::size_t> row_of;
  for_each_problem(
      report, [&](const FieldValue& run_name, const RunReport&, const ProblemReport& problem) {
        for (const RuleAudit& rule : problem.audit) {
          const auto [found, is_new] = row_of.try_emplace({run_name, rule.rule}, table.rows.size());
          if (is_new) {
            table.rows.push_back({run_name, rule.rule, std::int64_t{0}, std::int64_t{0}});
          }
          std::vector<FieldValue>& row = table.rows[found->second];
          std::get<std::int64_t>(row[2]) += rule.pruned;
          ++std::get<std::int64_t>(row[3]);
        }
      });
  return table;
}

FieldValue if_tried(const RuleAudit& rule, double value) {
  return rule.audited > 0 ? FieldValue{value} : FieldValue{};
}

Table audit_table(const StudyReport& report) {
  Table table = titled({"run", "problem", "rule", "dropped", "tried",
                        Title("compiling saved, s", 1), Title("samples saved, s", 1),
                        "fastest of those tried", Title("faster than the winner by %", 1)});
  for_each_problem(
      report, [&](const FieldValue& run_name, const RunReport&, const ProblemReport& problem) {
        if (problem.audited.empty()) {
          return;
        }
        for (const RuleAudit& rule : problem.audit) {
          table.rows.push_back(
              {run_name, name_of(problem), rule.rule, rule.pruned, rule.audited,
               if_tried(rule, rule.saved_compile_s), if_tried(rule, rule.saved_measure_s),
               rule.best_config,
               rule.best_config.empty() ? FieldValue{} : FieldValue{rule.gain_percent}});
        }
      });
  return table;
}

Table method_table(const StudyReport& report) {
  Table table = titled({"of", "what", "value"});
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    for (const auto& [what, value] : facts_of(report.runs[i])) {
      table.rows.push_back({report.names[i], what, value});
    }
  }
  for (const PeerStudy& peers : report.peers) {
    table.rows.push_back({std::string("peers"), std::string("device"), peers.device});
    table.rows.push_back({std::string("peers"), std::string("measured"), peers.measured_at});
  }
  return table;
}

Table configuration_table(const StudyReport& report, const StudyRows& rows) {
  std::vector<ResultRow> results = mapped(rows.rows, [&](const StudyRow& row) {
    return ResultRow{row.run, row.problem, row.result};
  });
  Table table = table_of(result_fields_for_people(results), results);
  const std::size_t first_parameter = table.columns.size();
  append_parameters(results, table);
  leave_out_the_same(table, first_parameter);
  add_origin(
      results, "problem", [](const ResultRow& r) { return describe(r.problem->problem); }, table);
  add_origin(
      results, "run",
      [&](const ResultRow& r) {
        return report.names[static_cast<std::size_t>(r.run - report.runs.data())];
      },
      table);
  return table;
}

}  // namespace fatune
