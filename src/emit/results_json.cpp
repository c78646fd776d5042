#include "emit/results_json.hpp"

#include <algorithm>

#include "emit/device_fields.hpp"
#include "emit/result_fields.hpp"
#include "emit/run_report.hpp"
#include "emit/summary_report.hpp"

namespace fatune {
namespace {

constexpr std::size_t kRunnersUp = 4;

Json json_error_stats(const ErrorStats& stats) {
  return {{"input", stats.input},
          {"output", stats.output},
          {"max_abs_error", json_value(stats.max_abs_error)},
          {"max_abs_difference", json_value(stats.max_abs_difference)},
          {"max_abs_reference_error", json_value(stats.max_abs_reference_error)},
          {"limit", json_value(stats.limit)},
          {"elements", stats.elements},
          {"mismatched", stats.mismatched},
          {"mismatched_percent", json_value(stats.mismatched_percent())},
          {"not_finite", stats.not_finite},
          {"guard_bytes_changed", stats.guard_bytes_changed}};
}

Json json_verification(const Verification& verification) {
  return {{"method", verification.method},
          {"seed", verification.seed},
          {"inputs", json_list(verification.inputs, json_error_stats)}};
}

Json json_samples(const Timing& timing) { return json_list(timing.samples_us, json_value); }

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
    result["verification"] = json_verification(o.verification);
    result["confidence"] = json_value(o.timing.confidence);
    result["stopped_because"] = o.timing.stopped_because;
    result["warnings"] = o.timing.warnings;
    result["samples_us"] = json_samples(o.timing);
    if (!o.counters.empty()) {
      result["counters"] = json_counters(o.counters);
    }
  }
  void operator()(const WrongResult& o) const {
    result["verification"] = json_verification(o.verification);
  }
  void operator()(const Flagged& o) const {
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

Json json_results(const RunReport& run, const ProblemReport& problem,
                  const std::vector<Result>& results) {
  return json_list(results, [&](const Result& result) {
    return json_result({&run, &problem, &result});
  });
}

Json json_policy(const MeasurePolicy& policy) {
  return {{"strategy", strategy_name(policy.strategy)},
          {"warmup", policy.warmup},
          {"repeats", policy.repeats},
          {"target_ci", json_value(policy.target_ci)},
          {"budget_s", policy.budget_s > 0.0 ? json_value(policy.budget_s) : Json(nullptr)},
          {"flush_l2", policy.flush_l2},
          {"device_gate", policy.device_gate},
          {"cuda_graph", policy.cuda_graph},
          {"confidence", policy.confidence},
          {"seed", policy.seed}};
}

Json json_header(const RunReport& report, const char* name) {
  Json json = json_head(name);
  json.update(
      {{"measured", report.measured},
       {"complete", report.complete},
       {"command_line", report.command_line},
       {"started_at", report.started_at},
       {"wall_s", json_value(report.wall_s)},
       {"gpus_used", report.gpus},
       {"gpu_busy_percent", report.measured ? json_value(busy_percent(report)) : Json(nullptr)},
       {"family", report.family},
       {"space", report.space},
       {"toolchain", json_toolchain(report.toolchain)},
       {"policy", report.measured ? json_policy(report.policy) : Json(nullptr)}});
  return json;
}

Json json_measuring(const MeasuringSummary& summary) {
  return {{"stopped_because", stop_reason_name(summary.stopped_because)},
          {"rounds", summary.rounds},
          {"final_rounds", summary.final_rounds},
          {"samples_taken", summary.samples_taken},
          {"samples_retaken", summary.samples_retaken},
          {"sentinel", summary.sentinel},
          {"drift_percent", json_value(summary.drift_percent)},
          {"elapsed_s", json_value(summary.elapsed_s)},
          {"warnings", summary.warnings}};
}

Json json_conditions(const GpuConditions& conditions) {
  return {{"readings", conditions.readings},
          {"sm_mhz_min", json_value(conditions.sm_mhz_min)},
          {"sm_mhz_median", json_value(conditions.sm_mhz_median)},
          {"sm_mhz_max", json_value(conditions.sm_mhz_max)},
          {"power_w_median", json_value(conditions.power_w_median)},
          {"power_w_max", json_value(conditions.power_w_max)},
          {"temperature_c_max", json_value(conditions.temperature_c_max)},
          {"throttle_reasons", conditions.throttle_reasons}};
}

Json json_audit(const std::vector<RuleAudit>& audit) {
  return json_list(audit, [](const RuleAudit& rule) {
    Json item{{"rule", rule.rule},
              {"pruned", rule.pruned},
              {"audited", rule.audited},
              {"saved_compile_s", json_value(rule.saved_compile_s)},
              {"saved_measure_s", json_value(rule.saved_measure_s)}};
    item["best_config"] = rule.best_config.empty() ? Json(nullptr) : Json(rule.best_config);
    item["gain_percent"] = rule.best_config.empty() ? Json(nullptr) : json_value(rule.gain_percent);
    return item;
  });
}

Json json_problem_report(const RunReport& run, const ProblemReport& problem) {
  return {{"problem", json_problem(problem.problem)},
          {"run", problem.run},
          {"device_uuid", problem.device_uuid.empty() ? Json(nullptr) : Json(problem.device_uuid)},
          {"measuring", problem.measuring ? json_measuring(*problem.measuring) : Json(nullptr)},
          {"conditions", problem.conditions ? json_conditions(*problem.conditions) : Json(nullptr)},
          {"matmul_tflops", problem.matmul ? json_value(problem.matmul->tflops) : Json(nullptr)},
          {"matmul_sm_mhz", problem.matmul && problem.matmul->sm_mhz > 0.0
                                ? json_value(problem.matmul->sm_mhz)
                                : Json(nullptr)},
          {"audit", json_audit(problem.audit)},
          {"audited", json_results(run, problem, problem.audited)},
          {"pruned", problem.pruned},
          {"invalid", problem.invalid},
          {"ranking", json_results(run, problem, problem.ranking)},
          {"failures", json_results(run, problem, problem.failures)}};
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

Json results_object(const RunReport& report) {
  Json json = json_header(report, "results");
  json["device"] = json_object(device_fields(), report.device);
  json["problems"] = json_list(report.problems, [&](const ProblemReport& problem) {
    return json_problem_report(report, problem);
  });
  json["summary"] = report.summary ? json_summary(*report.summary) : Json(nullptr);
  return json;
}

Json runs_object(const std::vector<RunReport>& reports) {
  Json json = json_head("runs");
  json["runs"] = json_list(reports, results_object);
  return json;
}

std::string best_configs_json(const RunReport& report) {
  Json json = json_header(report, "best_configs");
  json["gpus"] = Json::array();
  json["gpus"].push_back(
      {{"device", json_object(device_fields(), report.device)},
       {"problems", json_list(report.problems, [&](const ProblemReport& problem) {
          return json_best_of(report, problem);
        })}});
  return json_text(json);
}

}  // namespace fatune
