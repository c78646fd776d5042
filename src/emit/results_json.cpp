#include "emit/results_json.hpp"

#include <algorithm>

#include "emit/device_fields.hpp"
#include "emit/gate_report.hpp"
#include "emit/result_fields.hpp"
#include "emit/run_report.hpp"
#include "emit/summary_report.hpp"

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
  void operator()(const CompileFailed& o) const { result["log"] = o.log; }
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

/// null for an object that is not there.
template <typename Object>
Json json_or_null(const Properties<Object>& properties, const std::optional<Object>& object) {
  return object ? json_object(properties, *object) : Json(nullptr);
}

Json json_header(const RunReport& report, const char* name) {
  Json json = json_head(name);
  json.update(json_object(header_properties(), report));
  return json;
}

/// The samples stay in results.json: what a configuration is chosen by is their summary.
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
      {"output", "what is compared: O, or an output beside it, which has one reference",
       member<&S::output>},
      {"max_abs_error", "greatest absolute difference to the fp32 reference",
       member<&S::max_abs_error>},
      {"max_abs_difference",
       "greatest absolute difference to the 16-bit reference: the documented rule",
       member<&S::max_abs_difference>},
      {"max_abs_reference_error", "the same of the 16-bit reference",
       member<&S::max_abs_reference_error>},
      {"limit", "the most that max_abs_error and max_abs_difference may be", member<&S::limit>},
      {"elements", "elements compared", member<&S::elements>},
      {"mismatched", "elements beyond atol 1e-5, rtol 1e-3 of the 16-bit reference",
       member<&S::mismatched>},
      {"mismatched_percent", "the same in percent of the elements",
       [](const S& stats) { return stats.mismatched_percent(); }},
      {"not_finite", "NaN or infinite elements of the whole output", member<&S::not_finite>},
      {"guard_bytes_changed", "bytes written outside the output tensor",
       member<&S::guard_bytes_changed>},
  };
  return all;
}

const Properties<Verification>& verification_properties() {
  using V = Verification;
  static const Properties<V> all{
      {"method", "what was compared with what", member<&V::method>},
      {"seed", "of the random inputs", member<&V::seed>},
      {"inputs", "one per input kind",
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
      {"confidence", "of the median's confidence interval",
       [](const M& o) { return o.timing.confidence; }},
      {"stopped_because", "why no further sample was taken",
       [](const M& o) { return o.timing.stopped_because; }},
      {"warnings", "what is to be said against the samples",
       [](const M& o) { return o.timing.warnings; }},
      {"samples_us", "every sample, in the order in which it was taken",
       [](const M& o) { return json_list(o.timing.samples_us, json_value); }},
  };
  return all;
}

const Properties<MeasurePolicy>& policy_properties() {
  using P = MeasurePolicy;
  static const Properties<P> all{
      {"strategy",
       "race: samples go to those that can still win; exhaustive: the same number to each",
       [](const P& policy) { return strategy_name(policy.strategy); }},
      {"warmup", "samples of each configuration that were thrown away first", member<&P::warmup>},
      {"repeats", "exhaustive: samples per configuration", member<&P::repeats>},
      {"target_ci", "race: half-width of the interval to reach, as a fraction of the median",
       member<&P::target_ci>},
      {"budget_s", "race: seconds for the whole run; null: no limit",
       [](const P& policy) {
         return policy.budget_s > 0.0 ? std::optional(policy.budget_s) : std::nullopt;
       }},
      {"flush_l2", "whether the L2 cache was overwritten before each sample", member<&P::flush_l2>},
      {"device_gate", "whether the GPU was held until the host had queued a sample",
       member<&P::device_gate>},
      {"cuda_graph", "whether kernels were launched as CUDA graphs", member<&P::cuda_graph>},
      {"confidence", "of the confidence intervals", member<&P::confidence>},
      {"seed", "of the random inputs", member<&P::seed>},
      {"parts",
       "race: whether early rounds were on a part of the problem where a launch is long "
       "(docs/racing.md)",
       member<&P::parts>},
  };
  return all;
}

const Properties<RunReport>& header_properties() {
  using R = RunReport;
  static const Properties<R> all{
      {"measured", "false: nothing was timed, every time is an estimate", member<&R::measured>},
      {"complete", "false: the run was stopped, or is still going on", member<&R::complete>},
      {"command_line", "as typed, with what fatune.toml adds", member<&R::command_line>},
      {"started_at", "ISO 8601, UTC", member<&R::started_at>},
      {"wall_s", "seconds from start to this writing", member<&R::wall_s>},
      {"gpus_used", "GPUs that measured; 0: none", member<&R::gpus>},
      {"gpu_busy_percent",
       "part of wall_s in which the GPUs verified or measured; null when nothing was measured",
       [](const R& run) { return run.measured ? std::optional(busy_percent(run)) : std::nullopt; }},
      {"family", "kernel family; several are joined by +", member<&R::family>},
      {"space",
       "search space; empty when configurations were named; of several families joined by +",
       member<&R::space>},
      {"toolchain", {}, [](const R& run) { return json_toolchain(run.toolchain); }},
      {"source_hashes", "by family: SHA-256 of its kernel's sources; empty: not known",
       [](const R& run) { return Json(run.source_hashes); }},
      {"imported_from", "file that the times were taken from; null: they are this run's",
       [](const R& run) { return text_or_none(run.imported_from); }},
      {"shard", "part of a sweep that this is, as 3/8: shard 3 of 8; null: it is the whole",
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

/// A value that is 0 where there is none.
template <auto kMember>
const auto reported =
    [](const auto& of) { return of.*kMember > 0.0 ? std::optional(of.*kMember) : std::nullopt; };

const Properties<MeasuringSummary>& measuring_properties() {
  using M = MeasuringSummary;
  static const Properties<M> all{
      {"stopped_because", "target reached, fixed count, budget used up, interrupted, ...",
       [](const M& measuring) { return stop_reason_name(measuring.stopped_because); }},
      {"rounds", "in which each contender gave a sample", member<&M::rounds>},
      {"final_rounds", "of the finals", member<&M::final_rounds>},
      {"samples_taken", "retaken ones included", member<&M::samples_taken>},
      {"samples_retaken", "thrown away", member<&M::samples_retaken>},
      {"sentinel", "configuration that was in every round", member<&M::sentinel>},
      {"drift_percent", "of the sentinel, first quarter to last", member<&M::drift_percent>},
      {"elapsed_s", "seconds spent on the problem", member<&M::elapsed_s>},
      {"warnings", "what is to be said against the samples", member<&M::warnings>},
      {"part_rounds", "of the rounds, on a part of the problem", member<&M::part_rounds>},
      {"part_share", "of that part; null: all rounds were on the whole problem",
       reported<&M::part_share>},
      {"at_sm_mhz", "SM clock that the times are brought to; null: they are as taken",
       reported<&M::at_sm_mhz>},
  };
  return all;
}

const Properties<GpuReading>& reading_properties() {
  using R = GpuReading;
  static const Properties<R> all{
      {"sm_mhz", "SM clock in MHz", reported<&R::sm_mhz>},
      {"power_w", "power draw in watts", reported<&R::power_w>},
      {"temperature_c", "in degrees Celsius", reported<&R::temperature_c>},
  };
  return all;
}

const Properties<GpuConditions>& conditions_properties() {
  using G = GpuConditions;
  static const Properties<G> all{
      {"readings", "how often it was asked", member<&G::readings>},
      {"sm_mhz_min", "least SM clock in MHz", reported<&G::sm_mhz_min>},
      {"sm_mhz_median", "its median", reported<&G::sm_mhz_median>},
      {"sm_mhz_max", "greatest", reported<&G::sm_mhz_max>},
      {"power_w_median", "power draw in watts", reported<&G::power_w_median>},
      {"power_w_max", "greatest", reported<&G::power_w_max>},
      {"temperature_c_max", "greatest, in degrees Celsius", reported<&G::temperature_c_max>},
      {"throttle_reasons", "why clocks were not higher, at any reading",
       member<&G::throttle_reasons>},
      {"timeline", "medians of consecutive parts of the readings",
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
      {"rule", "its id", member<&A::rule>},
      {"pruned", "configurations that it dropped", member<&A::pruned>},
      {"audited", "of these, tried all the same: with --audit and --cover", member<&A::audited>},
      {"saved_compile_s", "compiling them all, judged by those tried", member<&A::saved_compile_s>},
      {"saved_measure_s", "the samples of them all, likewise", member<&A::saved_measure_s>},
      {"best_config", "fastest of those tried; null: none has a time",
       [](const A& rule) { return text_or_none(rule.best_config); }},
      {"gain_percent", "by how much it is faster than the winner; negative: slower",
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
      {"run", "which repetition of the whole measurement, from 1",
       [](const P& of) { return of.problem.run; }},
      {"device_uuid", "GPU that measured it; null: none",
       [](const P& of) { return text_or_none(of.problem.device_uuid); }},
      {"measuring",
       {},
       [](const P& of) { return json_or_null(measuring_properties(), of.problem.measuring); }},
      {"conditions",
       {},
       [](const P& of) { return json_or_null(conditions_properties(), of.problem.conditions); }},
      {"matmul_tflops",
       "10^12 FLOP per second of dense products of the problem's type, measured before it; null: "
       "it was not",
       [](const P& of) {
         return of.problem.matmul ? std::optional(of.problem.matmul->tflops) : std::nullopt;
       }},
      {"matmul_sm_mhz", "SM clock meanwhile in MHz; null: not said",
       [](const P& of) {
         const auto& matmul = of.problem.matmul;
         return matmul && matmul->sm_mhz > 0.0 ? std::optional(matmul->sm_mhz) : std::nullopt;
       }},
      {"audit", "what each rule dropped; with --audit and --cover, what it saved and cost",
       [](const P& of) {
         return json_list(of.problem.audit, [](const RuleAudit& rule) {
           return json_object(rule_audit_properties(), rule);
         });
       }},
      {"audited", "pruned configurations that were tried all the same, fastest first; not ranked",
       json_results<&ProblemReport::audited>},
      {"pruned", "configurations that the space's rules dropped, those among the failures too",
       [](const P& of) { return of.problem.pruned; }},
      {"invalid", "configurations that the family cannot build",
       [](const P& of) { return of.problem.invalid; }},
      {"ranking", "best first", json_results<&ProblemReport::ranking>},
      {"failures",
       "everything that has no rank; outcome pruned: a rule of the space drops it on this problem",
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
  json["summary"] = report.summary ? json_summary(*report.summary) : Json(nullptr);
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
