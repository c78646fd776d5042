#include "emit/results_json.hpp"

#include <algorithm>

#include "emit/device_fields.hpp"
#include "emit/gate_report.hpp"
#include "emit/result_fields.hpp"
#include "emit/run_report.hpp"
#include "emit/winners_table.hpp"

namespace fatune {
namespace {

constexpr std::size_t kRunnersUp = 4;

Json json_verification(const Verification& verification) {
  return json_object(verification_properties(), verification);
}

Json json_terms(const Estimated& estimated) {
  return json_list(estimated.terms, [](const EstimateTerm& term) {
    return Json{{"name", term.name}, {"us", json_value(term.us)}};
  });
}

Json json_counters(const std::vector<CounterValue>& counters) {
  Json json = Json::object();
  for (const CounterValue& counter : counters) {
    json[counter.name] = json_value(counter.value);
  }
  return json;
}

/// The details of an outcome beyond its columns.
struct OutcomeDetails {
  Json& result;

  void operator()(const Measured& o) const {
    result.update(json_object(measured_properties(), o));
    if (!o.counters.empty()) {
      result["counters"] = json_counters(o.counters);
    }
  }
  template <typename Verified>
  requires std::is_same_v<Verified, WrongResult> || std::is_same_v<Verified, Flagged>
  void operator()(const Verified& o) const {
    result["verification"] = json_verification(o.verification);
  }
  void operator()(const Estimated& o) const {
    result["estimate_terms"] = json_terms(o);
    if (!o.verification.inputs.empty()) {
      result["verification"] = json_verification(o.verification);
    }
  }
  template <typename Uncompiled>
  requires std::is_same_v<Uncompiled, CompileFailed> || std::is_same_v<Uncompiled, CompilerCrashed>
  void operator()(const Uncompiled& o) const { result["log"] = o.log; }
  template <typename Other>
  void operator()(const Other&) const {}
};

Json json_result(const ResultRow& row) {
  Json result = json_object(result_fields(), row);
  result["parameters"] = json_parameters(row.result->parameters);
  std::visit(OutcomeDetails{result}, row.result->outcome);
  return result;
}

template <std::vector<Result> ProblemReport::*kResults>
const auto json_results = [](const ProblemOfRun& of) {
  return json_list(of.problem.*kResults, [&](const Result& result) {
    return json_result({&of.run, &of.problem, &result});
  });
};

/// Returns null if the object is absent.
template <typename Object>
Json json_or_null(const Properties<Object>& properties, const std::optional<Object>& object) {
  return object ? json_object(properties, *object) : Json(nullptr);
}

Json json_header(const RunReport& report, const char* name) {
  Json json = json_head(name);
  json.update(json_object(header_properties(), report));
  return json;
}

/// Leaves out the samples, which results.json has: configurations are chosen by their summary.
Json json_choice(const RunReport& run, const ProblemReport& problem, const Result& result) {
  Json choice = json_result({&run, &problem, &result});
  choice.erase("samples_us");
  return choice;
}

Json json_best_of(const RunReport& run, const ProblemReport& problem) {
  const auto& ranking = problem.ranking;
  Json runners_up = Json::array();
  for (std::size_t i = 1; i < std::min(ranking.size(), kRunnersUp + 1); ++i) {
    runners_up.push_back(json_choice(run, problem, ranking[i]));
  }
  Json best = {{"problem", json_problem(problem.problem)},
               {"run", problem.run},
               {"candidates", count_candidates(problem)},
               {"ranked", ranking.size()},
               {"failed", count_failed(problem)}};
  best["winner"] = ranking.empty() ? Json(nullptr) : json_choice(run, problem, ranking.front());
  best["runners_up"] = runners_up;
  return best;
}

}  // namespace

const Properties<ErrorStats>& error_stats_properties() {
  using S = ErrorStats;
  static const Properties<S> all{
      {"input", "kind of input: normal, large_logits, dominating_key, ...", member<&S::input>},
      {"output", "the output that was compared: O, or another output, which has only one reference",
       member<&S::output>},
      {"max_abs_error", "greatest absolute difference from the fp32 reference",
       member<&S::max_abs_error>},
      {"max_abs_difference",
       "greatest absolute difference from the 16-bit reference, which the documented rule limits",
       member<&S::max_abs_difference>},
      {"max_abs_reference_error",
       "greatest absolute difference of the 16-bit reference from the fp32 reference",
       member<&S::max_abs_reference_error>},
      {"limit", "upper limit for max_abs_error and max_abs_difference", member<&S::limit>},
      {"elements", "number of elements compared", member<&S::elements>},
      {"mismatched",
       "number of elements that differ from the 16-bit reference by more than atol 1e-5, rtol 1e-3",
       member<&S::mismatched>},
      {"mismatched_percent", "mismatched in percent of elements",
       [](const S& stats) { return stats.mismatched_percent(); }},
      {"not_finite", "number of NaN or infinite elements in the whole output",
       member<&S::not_finite>},
      {"guard_bytes_changed", "number of bytes written outside the output tensor",
       member<&S::guard_bytes_changed>},
  };
  return all;
}

const Properties<Verification>& verification_properties() {
  using V = Verification;
  static const Properties<V> all{
      {"method", "the references and the rows that were compared; empty: none", member<&V::method>},
      {"seed", "seed of the random inputs", member<&V::seed>},
      {"inputs", "error statistics, one entry for each kind of input and output",
       [](const V& verification) {
         return json_list(verification.inputs, [](const ErrorStats& stats) {
           return json_object(error_stats_properties(), stats);
         });
       }},
  };
  return all;
}

const Properties<Measured>& measured_properties() {
  using M = Measured;
  static const Properties<M> all{
      {"verification", {}, [](const M& o) { return json_verification(o.verification); }},
      {"confidence", "confidence level of the median's confidence interval",
       [](const M& o) { return o.timing.confidence; }},
      {"stopped_because", "why no further samples were taken",
       [](const M& o) { return o.timing.stopped_because; }},
      {"warnings", "reasons to doubt the samples", [](const M& o) { return o.timing.warnings; }},
      {"samples_us", "all samples in microseconds, in the order in which they were taken",
       [](const M& o) { return json_list(o.timing.samples_us, json_value); }},
  };
  return all;
}

const Properties<MeasurePolicy>& policy_properties() {
  using P = MeasurePolicy;
  static const Properties<P> all{
      {"strategy",
       "race: samples go to the configurations that can still win; exhaustive: each configuration "
       "gets the same number of samples",
       [](const P& policy) { return strategy_name(policy.strategy); }},
      {"warmup", "number of first samples of each configuration that were discarded",
       member<&P::warmup>},
      {"repeats", "number of samples of each configuration with the strategy exhaustive",
       member<&P::repeats>},
      {"target_ci",
       "half-width of the median's confidence interval that a race aims for, as a fraction of the "
       "median",
       member<&P::target_ci>},
      {"budget_s", "time limit of a race for the whole run in seconds; null: no limit",
       [](const P& policy) {
         return policy.budget_s > 0.0 ? std::optional(policy.budget_s) : std::nullopt;
       }},
      {"flush_l2", "whether the L2 cache was overwritten before each sample", member<&P::flush_l2>},
      {"device_gate", "whether the GPU was held until the host had queued a sample",
       member<&P::device_gate>},
      {"cuda_graph", "whether kernels were launched as CUDA graphs", member<&P::cuda_graph>},
      {"confidence", "confidence level of the confidence intervals", member<&P::confidence>},
      {"seed", "seed of the random inputs", member<&P::seed>},
      {"parts",
       "whether early rounds of a race measured only a part of the problem if a launch takes long "
       "(docs/racing.md)",
       member<&P::parts>},
  };
  return all;
}

const Properties<RunReport>& header_properties() {
  using R = RunReport;
  static const Properties<R> all{
      {"measured", "false: nothing was timed, and all times are estimates", member<&R::measured>},
      {"complete", "false: the run was stopped or is still in progress", member<&R::complete>},
      {"command_line", "the command line as typed, with the options that fatune.toml adds",
       member<&R::command_line>},
      {"started_at", "start of the run: ISO 8601, UTC", member<&R::started_at>},
      {"wall_s", "seconds from the start of the run until this report was written",
       member<&R::wall_s>},
      {"gpus_used", "number of GPUs that measured; 0: none", member<&R::gpus>},
      {"gpu_busy_percent",
       "percentage of wall_s in which the GPUs verified or measured; null: nothing was measured",
       [](const R& run) { return run.measured ? std::optional(busy_percent(run)) : std::nullopt; }},
      {"disturbances",
       "what may have disturbed the measurements: other processes on the GPU, tools around fatune",
       member<&R::disturbances>},
      {"family", "kernel family; several are joined by +", member<&R::family>},
      {"space",
       "search space, those of several families joined by +; empty: configurations were named "
       "instead",
       member<&R::space>},
      {"toolchain", {}, [](const R& run) { return json_toolchain(run.toolchain); }},
      {"source_hashes", "SHA-256 of the kernel sources of each family, by family; empty: not known",
       [](const R& run) { return Json(run.source_hashes); }},
      {"estimate_orders",
       "how far the order of each family's estimates is known to hold, by family; empty: the run "
       "was measured, or did not keep it",
       [](const R& run) { return Json(run.estimate_orders); }},
      {"imported_from",
       "file that the times were imported from; null: the times are this run's own",
       [](const R& run) { return text_or_none(run.imported_from); }},
      {"shard",
       "shards of the sweep that this run consists of, e.g. 3/8 for shard 3 of 8; null: the whole "
       "sweep",
       [](const R& run) {
         return run.shard ? std::optional(shard_text(*run.shard)) : std::nullopt;
       }},
      {"policy",
       {},
       [](const R& run) {
         return run.measured && run.imported_from.empty()
                    ? json_object(policy_properties(), run.policy)
                    : Json(nullptr);
       }},
  };
  return all;
}

/// Gets a member whose value 0 means that there is none.
template <auto kMember>
const auto reported =
    [](const auto& of) { return of.*kMember > 0.0 ? std::optional(of.*kMember) : std::nullopt; };

const Properties<MeasuringSummary>& measuring_properties() {
  using M = MeasuringSummary;
  static const Properties<M> all{
      {"stopped_because",
       "why measuring ended: target reached, fixed count, budget used up, interrupted, ...",
       [](const M& measuring) { return stop_reason_name(measuring.stopped_because); }},
      {"rounds",
       "number of rounds before the finals, in each of which every contender gave a sample",
       member<&M::rounds>},
      {"final_rounds", "number of rounds of the finals", member<&M::final_rounds>},
      {"samples_taken", "number of samples taken, including the discarded ones",
       member<&M::samples_taken>},
      {"samples_retaken", "number of samples that were discarded and taken again",
       member<&M::samples_retaken>},
      {"sentinel", "short form of the configuration that was in every round", member<&M::sentinel>},
      {"drift_percent",
       "by how many percent the last quarter of the sentinel's samples is slower than the first",
       member<&M::drift_percent>},
      {"elapsed_s", "seconds spent on the problem", member<&M::elapsed_s>},
      {"warnings", "reasons to doubt the samples", member<&M::warnings>},
      {"part_rounds", "number of the rounds that measured only a part of the problem",
       member<&M::part_rounds>},
      {"part_share",
       "fraction of the problem that was measured in part_rounds; null: all rounds measured the "
       "whole problem",
       reported<&M::part_share>},
      {"at_sm_mhz", "SM clock in MHz that the times are scaled to; null: the times are as measured",
       reported<&M::at_sm_mhz>},
  };
  return all;
}

const Properties<GpuReading>& reading_properties() {
  using R = GpuReading;
  static const Properties<R> all{
      {"sm_mhz", "SM clock in MHz", reported<&R::sm_mhz>},
      {"power_w", "power draw in watts", reported<&R::power_w>},
      {"temperature_c", "temperature in degrees Celsius", reported<&R::temperature_c>},
  };
  return all;
}

const Properties<GpuConditions>& conditions_properties() {
  using G = GpuConditions;
  static const Properties<G> all{
      {"readings", "number of readings of the GPU's clock, power and temperature",
       member<&G::readings>},
      {"sm_mhz_min", "lowest SM clock in MHz", reported<&G::sm_mhz_min>},
      {"sm_mhz_median", "median SM clock in MHz", reported<&G::sm_mhz_median>},
      {"sm_mhz_max", "highest SM clock in MHz", reported<&G::sm_mhz_max>},
      {"power_w_median", "median power draw in watts", reported<&G::power_w_median>},
      {"power_w_max", "highest power draw in watts", reported<&G::power_w_max>},
      {"temperature_c_max", "highest temperature in degrees Celsius",
       reported<&G::temperature_c_max>},
      {"throttle_reasons", "reasons for lower clocks that were in force at one or more readings",
       member<&G::throttle_reasons>},
      {"timeline",
       "medians of consecutive parts of the readings, in the order in which they were taken",
       [](const G& conditions) {
         return json_list(conditions.timeline, [](const GpuReading& reading) {
           return json_object(reading_properties(), reading);
         });
       }},
  };
  return all;
}

const Properties<RuleAudit>& rule_audit_properties() {
  using A = RuleAudit;
  static const Properties<A> all{
      {"rule", "id of the rule", member<&A::rule>},
      {"pruned", "number of configurations that the rule dropped", member<&A::pruned>},
      {"audited",
       "number of the dropped configurations that were tried anyway, with --audit or --cover",
       member<&A::audited>},
      {"saved_compile_s",
       "compile time in seconds that the rule saved, extrapolated from the dropped configurations "
       "that were tried",
       member<&A::saved_compile_s>},
      {"saved_measure_s",
       "time of samples in seconds that the rule saved, extrapolated from the dropped "
       "configurations that were tried",
       member<&A::saved_measure_s>},
      {"best_config",
       "short form of the fastest dropped configuration that was tried; null: none has a time",
       [](const A& rule) { return text_or_none(rule.best_config); }},
      {"gain_percent",
       "by how many percent best_config is faster than the winner; negative: slower; null: "
       "best_config is null",
       [](const A& rule) {
         return rule.best_config.empty() ? std::nullopt : std::optional(rule.gain_percent);
       }},
  };
  return all;
}

const Properties<ProblemOfRun>& problem_report_properties() {
  using P = ProblemOfRun;
  static const Properties<P> all{
      {"problem", {}, [](const P& of) { return json_problem(of.problem.problem); }},
      {"run", "number of the repetition of the whole measurement, from 1",
       [](const P& of) { return of.problem.run; }},
      {"device_uuid", "UUID of the GPU that measured the problem; null: none",
       [](const P& of) { return text_or_none(of.problem.device_uuid); }},
      {"measuring",
       {},
       [](const P& of) { return json_or_null(measuring_properties(), of.problem.measuring); }},
      {"conditions",
       {},
       [](const P& of) { return json_or_null(conditions_properties(), of.problem.conditions); }},
      {"matmul_tflops",
       "rate of dense matrix products of the problem's element type in 10^12 FLOP per second, "
       "measured just before the problem; null: not measured",
       [](const P& of) {
         return of.problem.matmul ? std::optional(of.problem.matmul->tflops) : std::nullopt;
       }},
      {"matmul_sm_mhz", "SM clock in MHz during the measurement of matmul_tflops; null: not known",
       [](const P& of) {
         const auto& matmul = of.problem.matmul;
         return matmul && matmul->sm_mhz > 0.0 ? std::optional(matmul->sm_mhz) : std::nullopt;
       }},
      {"audit", "what each rule dropped and, with --audit or --cover, what it saved and cost",
       [](const P& of) {
         return json_list(of.problem.audit, [](const RuleAudit& rule) {
           return json_object(rule_audit_properties(), rule);
         });
       }},
      {"audited",
       "pruned configurations that were tried anyway, the fastest first; they are not ranked",
       json_results<&ProblemReport::audited>},
      {"pruned",
       "number of configurations that the space's rules dropped, including those in failures",
       [](const P& of) { return of.problem.pruned; }},
      {"invalid", "number of configurations that the family cannot build",
       [](const P& of) { return of.problem.invalid; }},
      {"untried",
       "number of configurations that could run and that the search left out (docs/search.md)",
       [](const P& of) { return of.problem.untried; }},
      {"untried_because",
       "why they were left out; null: there are none, or the run was interrupted",
       [](const P& of) { return text_or_none(of.problem.untried_because); }},
      {"ranking", "ranked results, the best first", json_results<&ProblemReport::ranking>},
      {"failures",
       "results without a rank; outcome pruned: a rule of the space dropped the configuration on "
       "this problem",
       json_results<&ProblemReport::failures>},
  };
  return all;
}

Json results_object(const RunReport& report) {
  Json json = json_header(report, "results");
  json["device"] = json_object(device_fields(), report.device);
  json["problems"] = json_list(report.problems, [&](const ProblemReport& problem) {
    return json_object(problem_report_properties(), {report, problem});
  });
  json["summary"] = json_summary(report);
  json["gate"] = report.gate ? json_gate(*report.gate) : Json(nullptr);
  return json;
}

Json runs_object(const std::vector<RunReport>& reports) {
  Json json = json_head("runs");
  json["runs"] = json_list(reports, results_object);
  return json;
}

std::string best_configs_json(const RunReport& report) {
  Json problems = Json::array();
  for (const ProblemReport& problem : report.problems) {
    if (!is_cover_race(problem)) {
      problems.push_back(json_best_of(report, problem));
    }
  }
  Json json = json_header(report, "best_configs");
  json["gpus"] = Json::array();
  json["gpus"].push_back(
      {{"device", json_object(device_fields(), report.device)}, {"problems", std::move(problems)}});
  return json_text(json);
}

}  // namespace fatune
