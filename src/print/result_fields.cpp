#include "print/run_report.hpp"

#include <cctype>
#include <set>

#include "base/ranges.hpp"
#include "inspect/counters/counter_fields.hpp"
#include "model/flop.hpp"
#include "model/record_json.hpp"
#include "print/comparisons.hpp"

namespace fatune {
namespace {

std::optional<double> us_of(const ResultRow& row) {
  return is_ranked(row.result->outcome) ? std::optional(ranked_us(row.result->outcome))
                                        : std::nullopt;
}

std::optional<double> tflops(const ResultRow& row, double flop) {
  return per_us(row.result->outcome, flop, kFlopPerUsToTflops);
}

/// `get` of the measured outcome; nothing for other outcomes.
template <typename Get>
auto of_measured(const ResultRow& row, const Get& get) {
  return if_any(std::get_if<Measured>(&row.result->outcome), get);
}

template <double Timing::*kMember, std::int64_t kLeastSamples = 1>
const auto timing = [](const ResultRow& row) {
  return of_measured(row, [](const Measured& measured) {
    return measured.timing.sample_count < kLeastSamples ? std::nullopt
                                                        : std::optional(measured.timing.*kMember);
  });
};

/// Gets a member of the timing that stands for nothing if it is 0.
template <auto kMember>
const auto timing_or_none = [](const ResultRow& row) {
  return of_measured(row,
                     [](const Measured& measured) { return or_none<kMember>(measured.timing); });
};

template <auto kMember>
const auto fact = [](const ResultRow& row) { return if_any(row.result->facts, kMember); };

/// Gets a member of the result; nothing if the configuration was not compiled.
template <auto kMember>
const auto if_compiled = [](const ResultRow& row) {
  return row.result->facts ? std::optional((*row.result).*kMember) : std::nullopt;
};

/// Gets a member of the error statistics of the input on which O came closest to its limit, or
/// furthest beyond it.
template <auto kMember>
const auto error_stat = [](const ResultRow& row) {
  return if_any(verification_of(row.result->outcome), [](const Verification& verification) {
    return std::invoke(kMember, tightest_input(verification.inputs));
  });
};

/// `get` of the estimate; nothing for other outcomes.
template <typename Get>
auto of_estimate(const ResultRow& row, const Get& get) {
  return if_any(std::get_if<Estimated>(&row.result->outcome), [&](const Estimated& estimated) {
    return text_or_none(std::invoke(get, estimated));
  });
}

const auto why_not_ranked = [](const ResultRow& row) {
  return is_ranked(row.result->outcome) ? std::nullopt
                                        : std::optional(outcome_summary(row.result->outcome));
};

Fields<ResultRow> outcome_fields() {
  return {
      {"rank", "rank", kRankingOnly, [](auto& r) { return unless_empty(r.result->rank); }},
      {"tie_group", "tie", kRankingOnly, [](auto& r) { return unless_empty(r.result->tie_group); }},
      {"config", "config", kWraps, [](auto& r) { return r.result->short_form; }},
      {kFamilyField, "family", [](auto& r) { return text_or_none(r.result->config.family); }},
      {"outcome", "outcome", Look{.shown = kInFailures},
       [](auto& r) { return outcome_name(r.result->outcome); }},
      {"measured", "measured", kProgramsOnly,
       [](auto& r) { return std::holds_alternative<Measured>(r.result->outcome); }},
      {"verified", "verified", kProgramsOnly,
       [](auto& r) { return text_or_none(verified_by(r.result->outcome)); }},
      {"deterministic", "deterministic", kProgramsOnly,
       [](auto& r) {
         return of_measured(r, [](auto& m) { return m.verification.deterministic; });
       }},
      {"reused", "reused", kProgramsOnly, [](auto& r) { return r.result->reused; }},
      {"pruned_by", "pruned by", [](auto& r) { return text_or_none(r.result->pruned_by); }},
      {"proposed_by", "proposed by", kProgramsOnly,
       [](auto& r) { return text_or_none(r.result->proposed_by); }},
      {"proposal", "proposal", kProgramsOnly,
       [](auto& r) { return unless_empty(r.result->proposal); }},
  };
}

Fields<ResultRow> timing_fields() {
  return {
      {"time_us", "us", decimals(1, kInRanking), us_of},
      {"mean_us", "mean", decimals(1, kForPrograms), timing<&Timing::mean_us>},
      {"min_us", "min", decimals(1, kInRanking), timing<&Timing::min_us>},
      {"max_us", "max", decimals(1, kForPrograms), timing<&Timing::max_us>},
      {"stddev_us", "stddev", decimals(2, kInRanking), timing<&Timing::stddev_us, 2>},
      {"median_low_us", "low", decimals(1, kForPrograms), timing<&Timing::median_low_us>},
      {"median_high_us", "high", decimals(1, kForPrograms), timing<&Timing::median_high_us>},
      {"samples", "n", kRankingOnly, timing_or_none<&Timing::sample_count>},
      {"part_share", "part", decimals(2, kInRanking), timing_or_none<&Timing::part_share>},
      {"sustained_us", "sustained", decimals(1, kInRanking), timing_or_none<&Timing::sustained_us>},
      {"sustained_sm_mhz", "MHz", decimals(0, kInRanking),
       timing_or_none<&Timing::sustained_sm_mhz>},
      {"relative_percent", "rel %", decimals(1, kInRanking),
       [](auto& r) {
         return r.result->rank == 0 ? std::nullopt : std::optional(r.result->relative_percent);
       }},
  };
}

/// The times as FLOP per second, in three conventions, and as bytes per second.
Fields<ResultRow> throughput_fields() {
  return {
      {"literature_tflops", "TFLOP/s", decimals(1, kInRanking),
       [](auto& r) { return literature_tflops(*r.problem, *r.result); }},
      {kGbPerSField, "GB/s", kRankingOnly, [](auto& r) { return gb_per_s(*r.problem, *r.result); }},
      {"attention_tflops", "attn", decimals(1, kForPrograms),
       [](auto& r) { return tflops(r, attention_flop(r.problem->problem)); }},
      {"total_tflops", "total", decimals(1, kForPrograms),
       [](auto& r) {
         return if_any(r.result->total_flop, [&](double flop) { return tflops(r, flop); });
       }},
      {"percent_of_matmul", "% dense", decimals(1, kForPrograms),
       [](auto& r) { return percent_of_matmul(*r.problem, *r.result); }},
      {"percent_of_peak_at_clock", "% peak", decimals(1, kForPrograms),
       [](auto& r) { return percent_of_peak_at_clock(*r.run, *r.problem, *r.result); }},
      {"percent_of_reads", "% reads", decimals(1, kForPrograms),
       [](auto& r) { return percent_of_reads(*r.problem, *r.result); }},
      {"needed_bytes", "bytes", kProgramsOnly,
       [](auto& r) { return static_cast<std::int64_t>(needed_bytes(r.problem->problem)); }},
  };
}

Fields<ResultRow> resource_fields() {
  return {
      {"registers_per_thread", "regs", kRankingOnly, fact<&ResourceFacts::registers_per_thread>},
      {"spill_store_bytes", "spill st", kProgramsOnly, fact<&ResourceFacts::spill_store_bytes>},
      {"spill_load_bytes", "spill", kRankingOnly, fact<&ResourceFacts::spill_load_bytes>},
      {"local_bytes", "local", kProgramsOnly, fact<&ResourceFacts::local_bytes>},
      {"static_smem_bytes", "static smem", kProgramsOnly, fact<&ResourceFacts::static_smem_bytes>},
      {"dynamic_smem_bytes", "dynamic smem", kProgramsOnly,
       if_compiled<&Result::dynamic_smem_bytes>},
      {"smem_bytes", "smem", kRankingOnly,
       [](auto& r) {
         return if_any(r.result->facts, [&](auto& facts) {
           return facts.static_smem_bytes + r.result->dynamic_smem_bytes;
         });
       }},
      {"threads_per_block", "threads", kProgramsOnly, if_compiled<&Result::threads_per_block>},
      {"blocks_per_sm", "blk/SM", kRankingOnly, if_compiled<&Result::blocks_per_sm>},
      {"code_bytes", "code", kProgramsOnly, fact<&ResourceFacts::code_bytes>},
      {"compile_ms", "compile ms", kProgramsOnly, if_compiled<&Result::compile_ms>},
      {"from_cache", "cached", kProgramsOnly, if_compiled<&Result::from_cache>},
  };
}

/// Where the outcome comes from, the verification, and what identifies the kernel in other tools
/// and files.
Fields<ResultRow> record_fields() {
  return {
      {"same_code_as", "same code as", kWraps,
       [](auto& r) { return text_or_none(r.result->same_code_as); }},
      {"max_abs_error", "max err", decimals(5, kForPrograms),
       error_stat<&ErrorStats::max_abs_error>},
      {"max_abs_error_limit", "err limit", decimals(5, kForPrograms),
       error_stat<&ErrorStats::limit>},
      {"mismatched_percent", "mismatch %", decimals(3, kForPrograms),
       error_stat<&ErrorStats::mismatched_percent>},
      {"not_verified_because", "not verified", kProgramsOnly,
       [](auto& r) { return of_estimate(r, &Estimated::not_verified_because); }},
      {"estimated_from", "from", kProgramsOnly,
       [](auto& r) { return of_estimate(r, [](auto& e) { return enum_name(e.from); }); }},
      {"kernel_name", "kernel", kProgramsOnly,
       [](auto& r) { return text_or_none(r.result->kernel_name); }},
      {"artifact_key", "key", kProgramsOnly,
       [](auto& r) { return text_or_none(r.result->artifact_key); }},
      {"detail", "detail", Look{.shown = kInFailures, .wraps = true}, why_not_ranked},
  };
}

std::optional<DetailValue> result_detail(const ResultRow& row, const ProblemDetail& detail) {
  return detail_value(detail, row.problem->problem);
}

/// Adds the derived fields to each of the results. `list`: their JSON.
void add_derived(const RunReport& run, const ProblemReport& problem,
                 const std::vector<Result>& results, Json& list) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Field<ResultRow>& field : derived_result_fields()) {
      list[i].emplace(std::string(field.name),
                      json_value(field.get({&run, &problem, &results[i]})));
    }
  }
}

void add_derived(const RunReport& run, Json& problems) {
  for (std::size_t i = 0; i < run.problems.size(); ++i) {
    const ProblemReport& problem = run.problems[i];
    add_derived(run, problem, problem.ranking, problems[i]["ranking"]);
    add_derived(run, problem, problem.failures, problems[i]["failures"]);
    add_derived(run, problem, problem.audited, problems[i]["audited"]);
  }
}

/// The names of the families' parameters, each once, whatever the order of the rows.
std::vector<std::string> parameter_names(const std::vector<RowParameters>& rows) {
  std::map<std::string_view, const std::vector<NamedValue>*> one_of_family;
  for (const RowParameters& row : rows) {
    one_of_family.try_emplace(row.family, row.parameters);
  }
  std::vector<std::string> names;
  for (const auto& [family, parameters] : one_of_family) {
    for (const NamedValue& parameter : *parameters) {
      append_new(names, parameter.name);
    }
  }
  return names;
}

FieldValue parameter_of(const RowParameters& row, const std::string& name) {
  const auto found = std::ranges::find(*row.parameters, name, &NamedValue::name);
  return found == row.parameters->end() ? FieldValue{} : typed_value(found->text);
}

/// The figures that a sweep reads and that at least one of the results has.
std::vector<CounterField> fields_of(const std::vector<const Result*>& results) {
  std::vector<CounterField> fields = counter_fields(CounterSet::core);
  std::erase_if(fields, [&](const CounterField& field) {
    return std::ranges::none_of(results, [&](const Result* result) {
      return has_value(optional_value(counter_of(*result, field.name)));
    });
  });
  return fields;
}

/// The text with '#' in place of each number.
std::string without_numbers(const std::string& text) {
  std::string masked;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool is_point = c == '.' && masked.ends_with('#');
    if (!is_digit && !is_point) {
      masked += c;
    } else if (!masked.ends_with('#')) {
      masked += '#';
    }
  }
  return masked;
}

FailureGroup failure_of(const Problem& problem, const Result& result) {
  FailureGroup failure{outcome_kind(result.outcome), outcome_summary(result.outcome),
                       outcome_summary(result.outcome), result.short_form, describe(problem)};
  if (const auto* const pruned = std::get_if<Pruned>(&result.outcome)) {
    failure.reason = pruned->rule;
  } else if (const auto* const invalid = std::get_if<Invalid>(&result.outcome)) {
    failure.reason = invalid->rule;
  }
  return failure;
}

bool is_dropped(const FailureGroup& group) { return group.outcome == OutcomeKind::pruned; }

}  // namespace

void append_parameters(const std::vector<RowParameters>& rows, Table& table) {
  for (const std::string& name : parameter_names(rows)) {
    if (is_among(name, table.columns, &Table::Column::name)) {
      continue;
    }
    append_column_of(table, {.name = name, .heading = name}, rows,
                     [&](const RowParameters& row) { return parameter_of(row, name); });
  }
}

void append_parameters(const std::vector<ResultRow>& rows, Table& table) {
  append_parameters(
      mapped(rows,
             [](const ResultRow& row) {
               return RowParameters{row.result->config.family, &row.result->parameters};
             }),
      table);
}

std::optional<double> counter_of(const Result& result, std::string_view name) {
  const auto* const measured = std::get_if<Measured>(&result.outcome);
  return measured == nullptr
             ? std::nullopt
             : if_any(find_in(measured->counters, name, &CounterValue::name), &CounterValue::value);
}

Table counter_table(const std::vector<Result>& ranking) {
  std::vector<const Result*> results;
  for (const Result& result : ranking) {
    const auto* const measured = std::get_if<Measured>(&result.outcome);
    if (measured != nullptr && !measured->counters.empty()) {
      results.push_back(&result);
    }
  }
  Table table{{}, std::vector<std::vector<FieldValue>>(results.size())};
  append_column_of(table, {.name = "rank", .heading = "rank"}, results,
                   [](const Result* result) { return std::int64_t{result->rank}; });
  append_column_of(table, {.name = "config", .heading = "config", .look = {.wraps = true}}, results,
                   [](const Result* result) { return result->short_form; });
  append_counters(results, table);
  return table;
}

void append_counters(const std::vector<const Result*>& results, Table& table) {
  for (const CounterField& field : fields_of(results)) {
    append_column_of(
        table, {.name = field.name, .heading = field.title, .look = {.decimals = kBySize}}, results,
        [&](const Result* result) { return optional_value(counter_of(*result, field.name)); });
  }
}

std::vector<FailureGroup> grouped(const std::vector<FailureGroup>& failures) {
  std::map<std::pair<OutcomeKind, std::string>, std::size_t> place_of;
  std::vector<FailureGroup> groups;
  for (const FailureGroup& failure : failures) {
    const auto [found, is_new] =
        place_of.try_emplace({failure.outcome, without_numbers(failure.reason)}, groups.size());
    if (is_new) {
      groups.push_back(failure);
    } else {
      groups[found->second].count += failure.count;
    }
  }
  std::ranges::stable_sort(groups, [](const FailureGroup& a, const FailureGroup& b) {
    return is_dropped(a) != is_dropped(b) ? is_dropped(b) : a.count > b.count;
  });
  return groups;
}

std::vector<FailureGroup> failure_groups(const RunReport& run) {
  std::vector<FailureGroup> failures;
  for (const ProblemReport& problem : run.problems) {
    for (const Result& result : problem.failures) {
      failures.push_back(failure_of(problem.problem, result));
    }
  }
  return grouped(failures);
}

Fields<FailureGroup> failure_group_fields() {
  using G = FailureGroup;
  return {
      {"count", "count", &G::count},
      {"outcome", "outcome", [](auto& g) { return outcome_name(g.outcome); }},
      {"detail", "why", kWraps, &G::why},
      {"config", "for example", kWraps, &G::config},
      {"problem", "on", or_none<&G::problem>},
  };
}

Fields<ResultRow> problem_fields() {
  const auto problem_of = [](auto& r) -> auto& { return r.problem->problem; };
  return joined_fields<ResultRow>({plain_problem_fields<ResultRow>(problem_of),
                                   detail_fields<ResultRow>(result_detail),
                                   {{"run", "run", [](auto& r) { return r.problem->run; }}}});
}

Fields<ResultRow> run_fields() {
  return {
      {"matmul_tflops", "dense", decimals(1, kForPrograms),
       [](auto& r) { return if_any(r.problem->matmul, &MatmulRate::tflops); }},
      {"read_gb_per_s", "reads", kProgramsOnly,
       [](auto& r) { return if_any(r.problem->memory, &MemoryRate::read_gb_per_s); }},
      {"device", "device", kProgramsOnly, [](auto& r) { return r.run->device.name; }},
  };
}

Fields<ResultRow> result_fields() {
  return joined_fields<ResultRow>(
      {outcome_fields(), timing_fields(), throughput_fields(), resource_fields(), record_fields()});
}

Fields<ResultRow> result_fields_for_people(const std::vector<ResultRow>& rows) {
  return with_gb_per_s_if(
      std::ranges::any_of(rows,
                          [](auto& r) { return is_memory_nearer(*r.run, *r.problem, *r.result); }),
      result_fields());
}

const Fields<ResultRow>& derived_result_fields() {
  static const Fields<ResultRow> derived = [] {
    std::set<std::string_view> members;
    for (const RecordMember& member : record_members<Result>()) {
      if (!member.of_alternative) {
        members.insert(member.info.name);
      }
    }
    Fields<ResultRow> fields = result_fields();
    std::erase_if(fields, [&](const auto& field) { return members.contains(field.name); });
    return fields;
  }();
  return derived;
}

Json results_object(const RunReport& report) {
  Json json = json_head("results", kResultsVersion);
  json.update(record_json(report));
  add_derived(report, json["problems"]);
  json["gpu_busy_percent"] = report.measured ? json_value(busy_percent(report)) : Json(nullptr);
  json["summary"] = json_summary(report);
  if (report.gate) {
    json["gate"].update(verdict_summary_json(report.gate->checks));
  }
  return json;
}

std::string best_configs_json(const RunReport& report) {
  return json_text(results_object(only_winners(report)));
}

Json runs_object(const std::vector<RunReport>& reports) {
  Json json = json_head("runs", kResultsVersion);
  json["runs"] = json_list(reports, results_object);
  return json;
}

}  // namespace fatune
