#pragma once

#include "base/ranges.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"
#include "print/document/document.hpp"
#include "print/document/table.hpp"
#include "race/study_rows.hpp"

namespace fatune {

/// Gets a member of a row's error statistics; nothing if the row has none.
template <auto kMember>
inline constexpr auto stat =
    [](const auto& row) { return row.stats ? std::optional((*row.stats).*kMember) : std::nullopt; };

inline const auto percent_of_limit = [](const auto& row) {
  return row.stats && row.stats->limit > 0.0
             ? std::optional(100.0 *
                             std::max(row.stats->max_abs_error, row.stats->max_abs_difference) /
                             row.stats->limit)
             : std::nullopt;
};

/// The fields of a row's error statistics. `mismatched`: which outputs show the number of
/// mismatches.
template <typename Row>
Fields<Row> error_fields(Shown mismatched) {
  return {
      {"input", "input", stat<&ErrorStats::input>},
      {"output", "output", kProgramsOnly, stat<&ErrorStats::output>},
      {"max_abs_error", "max err", decimals(6), stat<&ErrorStats::max_abs_error>},
      {"max_abs_difference", "max diff", decimals(6), stat<&ErrorStats::max_abs_difference>},
      {"limit", "limit", decimals(6), stat<&ErrorStats::limit>},
      {"percent_of_limit", "% of it", decimals(1), percent_of_limit},
      {"elements", "elements", kProgramsOnly, stat<&ErrorStats::elements>},
      {"mismatched", "mismatched", Look{.shown = mismatched}, stat<&ErrorStats::mismatched>},
  };
}

/// A field for each of the problem's details. `value_of` gets a row's value for a detail: a
/// function std::optional<DetailValue>(const Row&, const ProblemDetail&).
template <typename Row, typename ValueOf>
Fields<Row> detail_fields(const ValueOf& value_of, Shown shown = kForPrograms) {
  return mapped(kProblemDetails, [&](const ProblemDetail& detail) {
    return Field<Row>{
        detail.name, detail.name, decimals(4, shown), [value_of, &detail](const Row& row) {
          const std::optional<DetailValue> found = value_of(row, detail);
          return found ? std::visit([](const auto& value) { return FieldValue{value}; }, *found)
                       : FieldValue{};
        }};
  });
}

/// A field for each property of a row's problem that is no detail. `problem_of` gets the problem,
/// which may be optional.
template <typename Row, typename ProblemOf>
Fields<Row> plain_problem_fields(const ProblemOf& problem_of, Look look = {}) {
  const auto of = [&](const auto& get) {
    return [problem_of, get](const Row& row) {
      const auto& problem = std::invoke(problem_of, row);
      if constexpr (std::is_convertible_v<decltype(problem), const Problem&>) {
        return std::invoke(get, problem);
      } else {
        return if_any(problem, get);
      }
    };
  };
  return {
      {"dtype", "dtype", look, of([](const Problem& one) { return dtype_name(one.dtype); })},
      {"batch", "batch", look, of(&Problem::batch)},
      {"seq_len", "seq", look, of(&Problem::seq_len)},
      {"heads", "heads", look, of(&Problem::heads)},
      {"d_head", "d_head", look, of(&Problem::d_head)},
      {"causal", "causal", look, of(&Problem::causal)},
  };
}

struct ResultRow {
  const RunReport* run;
  const ProblemReport* problem;
  const Result* result;
};

/// The columns of a sweep's or run's results, in the order in which they are printed.
[[nodiscard]] Fields<ResultRow> result_fields();
/// The problem's own columns: in CSV they stand before the result's, in JSON once per problem.
[[nodiscard]] Fields<ResultRow> problem_fields();
/// The run's own columns: in CSV, which may have several runs, they stand after the result's, in
/// JSON once per run.
[[nodiscard]] Fields<ResultRow> run_fields();

/// The name of the result field that only reports of several families show to people.
inline constexpr std::string_view kFamilyField = "family";
/// People see this rate where is_memory_nearer().
inline constexpr std::string_view kGbPerSField = "gb_per_s";

/// The fields, without GB/s unless that is needed.
template <typename Row>
Fields<Row> with_gb_per_s_if(bool needed, Fields<Row> fields) {
  std::erase_if(fields,
                [&](const Field<Row>& field) { return !needed && field.name == kGbPerSField; });
  return fields;
}

/// The columns of these rows for people: result_fields(), without GB/s if the memory is the nearer
/// limit of no row.
[[nodiscard]] Fields<ResultRow> result_fields_for_people(const std::vector<ResultRow>& rows);

/// The report of one run (schema: results) or of several runs (schema: runs) as JSON: all members
/// of the report, so that it can be read back (store/results_file.hpp), and what follows from
/// them.
[[nodiscard]] Json results_object(const RunReport& report);
[[nodiscard]] Json runs_object(const std::vector<RunReport>& reports);

/// The fields of a result that are not among its members, or not with every outcome. JSON has them
/// for every result.
[[nodiscard]] const Fields<ResultRow>& derived_result_fields();

struct ProblemOfRun {
  const RunReport& run;
  const ProblemReport& problem;
};

/// The parameters of a row's configuration.
struct RowParameters {
  std::string_view family;
  const std::vector<NamedValue>* parameters;
};

/// Appends a column for each parameter of the rows' families, except those that the table has a
/// column for (dtype, d_head). A parameter of several families has one column. A cell is empty if
/// the row's family has no such parameter. `rows` are those of the table.
void append_parameters(const std::vector<RowParameters>& rows, Table& table);
void append_parameters(const std::vector<ResultRow>& rows, Table& table);

// Hardware counters of a sweep's results: figures of the table in src/inspect/counters.

/// The value of a counter; nothing if it was not read.
[[nodiscard]] std::optional<double> counter_of(const Result& result, std::string_view name);

/// A table with a row for each result that has counters, with its rank; no rows if none has.
[[nodiscard]] Table counter_table(const std::vector<Result>& ranking);

/// Appends a column for each figure that at least one of the results has. `results` are those of
/// the table's rows.
void append_counters(const std::vector<const Result*>& results, Table& table);

/// A configuration without a time or a machine code, or the first of several for one reason.
struct FailureGroup {
  OutcomeKind outcome = OutcomeKind::stopped;
  std::string reason;     ///< id of a rule, or a text
  std::string why;        ///< the reason in words
  std::string config;     ///< short form
  std::string problem{};  ///< the problem in words; empty: none
  std::size_t count = 1;
};

/// Puts failures together whose outcomes and reasons are the same, or differ in the reason's
/// numbers only. The greatest group is first, but those that rules of the space dropped come last.
[[nodiscard]] std::vector<FailureGroup> grouped(const std::vector<FailureGroup>& failures);
/// The configurations without a rank, on all problems of the run, by reason.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const RunReport& run);
[[nodiscard]] Fields<FailureGroup> failure_group_fields();

/// A run's results. For people, the winners come first, then the first `top` of each ranking (0:
/// all) and the reasons of failures; other formats have everything. For people, an unmeasured
/// report says so in its first and last line; every format has `measured`. `peers`: how the winners
/// that fatune ships for the run's GPU model did beside others; absent: not known.
[[nodiscard]] Document run_document(const RunReport& report, std::size_t top = 0,
                                    const std::optional<PeerStudy>& peers = {});

/// The verdicts on winners that a run was for: for people and in CSV they alone, in JSON the run.
/// Precondition: the report has a gate.
[[nodiscard]] Document gate_document(const RunReport& report);

/// The results of runs on several GPU models: JSON by configs/schema/runs.schema.json, or CSV with
/// a single heading.
[[nodiscard]] Document runs_document(const std::vector<RunReport>& reports, std::size_t top = 0);

/// One outcome as a line of JSON, with the columns of its record in CSV (schema `outcome`).
[[nodiscard]] std::string outcome_line(const RunReport& run, const ProblemReport& problem,
                                       const Result& result);
[[nodiscard]] inline std::string results_line(const RunReport& report) {
  return json_line(results_object(report));
}
/// results.json (configs/schema/results.schema.json): everything, samples included.
[[nodiscard]] std::string results_json(const RunReport& report);
/// results.csv: one row per configuration and problem, failures included, RFC 4180.
[[nodiscard]] std::string results_csv(const RunReport& report);
/// best_configs.json: results.json with the winner and the next four of each problem alone.
[[nodiscard]] std::string best_configs_json(const RunReport& report);

}  // namespace fatune
