#include "unit/store/run_samples.hpp"

#include <utility>

namespace fatune {

NewRun sample_run() {
  NewRun run;
  RunReport& header = run.header;
  header.command_line = "fatune sweep --seq 512 --baseline '(A): \xc3\xa4'";
  header.started_at = "2026-01-02T03:04:05Z";
  header.measured = true;
  header.complete = false;
  header.space = "tune";
  header.family = "toy";
  header.device.name = "Test GPU";
  header.device.uuid = "GPU-1";
  header.disturbances = {"process 12 (other) uses GPU GPU-1"};
  header.device.arch = Arch{90, 'a'};
  header.device.sm_count = 132;
  header.device.free_memory_bytes = 12345;
  header.device.memory_gbps = 4814.1;
  header.toolchain = {"0.1.0", "13.0", "13.1"};
  header.policy.repeats = 3;
  header.policy.flush_l2 = false;
  header.policy.seed = 0xffffffffffffffff;
  run.identity = {"conditions", "plan"};
  run.baseline = Config{"toy", {1, 2}};
  run.header.source_hashes = {{"toy", "abc"}};
  return run;
}

ProblemReport sample_problem(std::int64_t seq_len) {
  ProblemReport report;
  report.problem = {16, seq_len, 16, 128, DType::bf16, true};
  report.run = 2;
  report.pruned = 3;
  report.invalid = 4;
  return report;
}

Result sample_result(int number, Outcome outcome) {
  Result result;
  result.config = {"toy", {number, 7}};
  result.short_form = "(FP16, " + std::to_string(number) + "): fast";
  result.kernel_name = "kernel<" + std::to_string(number) + ">";
  result.parameters = {{"dtype", "FP16"}, {"rows", std::to_string(number)}};
  result.facts = ResourceFacts{154, 4, 8, 16, 0, 352, 12000};
  result.dynamic_smem_bytes = 32768;
  result.threads_per_block = 128;
  result.blocks_per_sm = 3;
  result.compile_ms = 250.123456789;
  result.from_cache = true;
  result.artifact_key = "key-" + std::to_string(number);
  result.total_flop = 2e9 + 0.1;
  result.outcome = std::move(outcome);
  return result;
}

Measured sample_measurement(double median_us) {
  Measured measured;
  measured.timing.samples_us = {median_us, median_us + 0.1, median_us / 3.0};
  measured.timing.median_us = median_us;
  measured.timing.median_low_us = median_us - 0.1;
  measured.timing.median_high_us = median_us + 0.1;
  measured.timing.stopped_because = "fixed count";
  measured.verification.method = "gpu references, all rows";
  measured.verification.seed = 9;
  measured.verification.inputs.resize(2);
  measured.verification.inputs[1].input = "normal";
  measured.verification.inputs[1].max_abs_error = 0.1;
  return measured;
}

LaunchGeometry sample_launch() { return {{16, 1, 256}, {128, 1, 1}, 32768}; }

OutcomeOrigin tried() { return {"code", sample_launch(), true, std::nullopt}; }

RunReport run_end(double wall_s, bool complete) {
  RunReport report;
  report.wall_s = wall_s;
  report.complete = complete;
  report.disturbances = sample_run().header.disturbances;
  return report;
}

}  // namespace fatune
