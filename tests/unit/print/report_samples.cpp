#include "unit/print/report_samples.hpp"

#include <utility>

namespace fatune {
namespace {

Result make_result(ParamValue id, Outcome outcome) {
  Result result;
  result.config = {"toy", {id}};
  result.short_form = "(FP16, " + std::to_string(id) + "): fast|odd";
  result.parameters = {{"dtype", "FP16"}, {"ROWS", std::to_string(id)}, {"fast", "true"}};
  result.outcome = std::move(outcome);
  return result;
}

Result compiled(Result result) {
  result.facts = ResourceFacts{154, 4, 8, 16, 0, 352, 12000};
  result.dynamic_smem_bytes = 32768;
  result.threads_per_block = 128;
  result.blocks_per_sm = 3;
  result.compile_ms = 250.5;
  result.artifact_key = "abc";
  result.total_flop = 2e9;
  return result;
}

Verification verification(double error) {
  return {"gpu references, all rows", 7, {{"normal", error, error, 0.001, 0.002, 1000, 5, 0, 0}}};
}

Measured measured(double median_us) {
  Measured outcome;
  outcome.timing.samples_us = {median_us, median_us + 1, median_us - 1};
  outcome.timing.median_us = median_us;
  outcome.timing.mean_us = median_us;
  outcome.timing.min_us = median_us - 1;
  outcome.timing.max_us = median_us + 1;
  outcome.timing.median_low_us = median_us - 0.5;
  outcome.timing.median_high_us = median_us + 0.5;
  outcome.timing.stopped_because = "fixed count";
  outcome.verification = verification(0.0015);
  return outcome;
}

Result ranked(int rank, Outcome outcome) {
  Result result = compiled(make_result(rank, std::move(outcome)));
  result.rank = rank;
  result.tie_group = rank;
  result.relative_percent = 100.0 / rank;
  return result;
}

std::vector<Result> failures() {
  return {make_result(11, CompileFailed{"x.cu(1): error: \xff no UTF-8\nsecond line"}),
          compiled(make_result(12, WrongResult{verification(0.5), "0.5 is more than 0.002"})),
          compiled(make_result(17, Flagged{verification(0.001), "race: at x.cu:3; and 2 more"})),
          compiled(make_result(13, Crashed{"CUDA_ERROR_ILLEGAL_ADDRESS: an illegal access"})),
          compiled(make_result(18, Serialized{"C7512: too few registers"})),
          make_result(14, Unlaunchable{"needs 300000 bytes of 232448"}),
          make_result(15, TimedOut{1000.0}),
          make_result(16, Invalid{"rows", "too few rows"})};
}

}  // namespace

RunReport sample_report(bool measured_on_gpu) {
  RunReport report;
  report.command_line = "fatune sweep --seq 512";
  report.started_at = "2025-01-02T03:04:05Z";
  report.measured = measured_on_gpu;
  report.space = "tune";
  report.family = "toy";
  report.device.name = "Test GPU";
  report.device.arch = Arch{90, 'a'};
  report.device.sm_count = 132;
  report.toolchain = {"0.1.0", "13.0", measured_on_gpu ? "13.0" : ""};
  ProblemReport problem;
  problem.problem = {16, 512, 16, 128, DType::fp16, false};
  problem.pruned = 3;
  if (measured_on_gpu) {
    problem.ranking = {ranked(1, measured(100.0)), ranked(2, measured(200.0))};
  } else {
    const Verification emulated{"emulated on a small problem", 7, verification(0.0015).inputs};
    problem.ranking = {
        ranked(1, Estimated{100.0,
                            {{"tensor", 90.0}, {"exposed", 10.0}},
                            emulated,
                            {},
                            EstimateSource::emulation}),
        ranked(2, Estimated{120.0, {{"tensor", 90.0}}, {}, "PTX line 7: 'mbarrier' is unknown"})};
  }
  problem.failures = failures();
  report.problems = {problem};
  return report;
}

RunReport sample_race() {
  RunReport report = sample_report(true);
  report.wall_s = 10.0;
  report.busy_s = 17.0;
  report.gpus = 2;
  report.policy.strategy = Strategy::race;
  report.policy.budget_s = 60.0;
  ProblemReport& problem = report.problems[0];
  problem.device_uuid = "GPU-1";
  problem.measuring = MeasuringSummary{
      StopReason::target, 3, 16, 87, 2, "(FP16, 1): fast|odd", -1.25, 4.5, {"something odd"}};
  problem.conditions = GpuConditions{87,
                                     1200.0,
                                     1905.0,
                                     1980.0,
                                     412.0,
                                     700.0,
                                     61.0,
                                     {"sw_power_cap"},
                                     {{1980.0, 412.0, 55.0, 0}, {1830.0, 412.0, 60.0, 0}}};
  problem.matmul = MatmulRate{800.0, 1755.0};
  problem.memory = MemoryRate{4000.0};
  problem.ranking[1].same_code_as = problem.ranking[0].short_form;
  problem.audited = {compiled(make_result(21, measured(80.0))),
                     compiled(make_result(22, measured(125.0)))};
  problem.audited[0].pruned_by = "a";
  problem.audited[1].pruned_by = "b";
  problem.audit = {{"a", 20, 1, 5.0, 0.25, problem.audited[0].short_form, 25.0},
                   {"b", 3, 1, 0.75, 0.5, problem.audited[1].short_form, -20.0},
                   {"c", 4, 0, 0.0, 0.0, "", 0.0}};
  return report;
}

PlanReport sample_plan() {
  PlanReport report;
  report.space = "tune";
  report.family = "toy";
  report.kept = {{"(A): x", {{"ROWS", "32"}}, "k<C{1}>"}};
  report.pruned = {{"(B): y", {}, "", "rule-1", "because, really"}};
  report.invalid = {{"(C): z", {}, "", "rows", "too few"}};
  report.rules = {{"rule-0", {}, 0}, {"rule-1", "because, really", 1}};
  return report;
}

CompileReport sample_compilation() {
  CompileReport report;
  report.family = "toy";
  report.problem = {16, 4096, 16, 128, DType::fp16, true};
  report.device.name = "sm_90 (no GPU)";
  report.device.arch = Arch{90, '\0'};
  CompiledConfig good;
  good.result.short_form = "(A): x";
  good.status = OutcomeKind::compiled;
  good.result.facts = ResourceFacts{};
  good.cubin_file = "out/a.cubin";
  good.problem = report.problem;
  TensorMapPiece map{64, "k", 0, "bfloat16", {64, 4096}, {4096}, {64, 128}, {1, 1}};
  good.geometry.arguments = {
      false,
      {{"/arguments/0", 192, 64, {{8, 4, 1, "int32"}}, {{0, "q", 0}}, {map}}},
      {{"next", 4, 0, "before_launch", "", "", {}}, {"lse", 8, 0, "never", "lse", "float32", {2}}}};
  CompiledConfig bad;
  bad.result.short_form = "(B): y";
  bad.status = OutcomeKind::compile_failed;
  bad.detail = "error: no";
  report.configs = {good, bad};
  return report;
}

}  // namespace fatune
