#pragma once

#include <concepts>
#include <type_traits>

#include "attention/problem_details.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "core/matmul_rate.hpp"
#include "core/named_value.hpp"
#include "core/outcome.hpp"
#include "report/report.hpp"

// The members of core's structs, each listed once: visit_members(value, visit) calls
// visit("name", member) for each. Writing and reading share the lists. A struct that gains a member
// no longer compiles here (the structured binding counts them), so that none is forgotten.
namespace fatune::record {

/// Marks a member that records of earlier versions lack: reading them leaves its default.
struct Later {};
inline constexpr Later kLater;

template <typename Self, typename Struct>
concept Is = std::same_as<std::remove_const_t<Self>, Struct>;

template <Is<ErrorStats> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [input, max_abs_error, max_abs_difference, max_abs_reference_error, limit, elements,
         mismatched, not_finite, guard_bytes_changed, output] = self;
  visit("input", input);
  visit("max_abs_error", max_abs_error);
  visit("max_abs_difference", max_abs_difference);
  visit("max_abs_reference_error", max_abs_reference_error);
  visit("limit", limit);
  visit("elements", elements);
  visit("mismatched", mismatched);
  visit("not_finite", not_finite);
  visit("guard_bytes_changed", guard_bytes_changed);
  visit("output", output, kLater);
}

template <Is<RowMismatches> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [input, rows_per_head, row, mismatched, beyond_limit] = self;
  visit("input", input);
  visit("rows_per_head", rows_per_head);
  visit("row", row);
  visit("mismatched", mismatched);
  visit("beyond_limit", beyond_limit);
}

template <Is<Verification> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [method, seed, inputs, rows, deterministic] = self;
  visit("method", method);
  visit("seed", seed);
  visit("inputs", inputs);
  visit("rows", rows, kLater);
  visit("deterministic", deterministic, kLater);
}

template <Is<Timing> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [samples_us, median_us, mean_us, min_us, max_us, stddev_us, median_low_us, median_high_us,
         confidence, stopped_because, warnings] = self;
  visit("samples_us", samples_us);
  visit("median_us", median_us);
  visit("mean_us", mean_us);
  visit("min_us", min_us);
  visit("max_us", max_us);
  visit("stddev_us", stddev_us);
  visit("median_low_us", median_low_us);
  visit("median_high_us", median_high_us);
  visit("confidence", confidence);
  visit("stopped_because", stopped_because);
  visit("warnings", warnings, kLater);
}

template <typename Self, typename Visit>
requires Is<Self, Pruned> || Is<Self, Invalid>
void visit_members(Self& self, Visit&& visit) {
  auto& [rule, reason] = self;
  visit("rule", rule);
  visit("reason", reason);
}

template <Is<CompileFailed> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [log] = self;
  visit("log", log);
}

template <Is<Serialized> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [reason] = self;
  visit("reason", reason);
}

template <Is<Unlaunchable> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [limit] = self;
  visit("limit", limit);
}

template <Is<Crashed> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [error] = self;
  visit("error", error);
}

template <Is<TimedOut> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [deadline_ms] = self;
  visit("deadline_ms", deadline_ms);
}

template <typename Self, typename Visit>
requires Is<Self, WrongResult> || Is<Self, Flagged>
void visit_members(Self& self, Visit&& visit) {
  auto& [verification, finding] = self;
  visit("verification", verification);
  visit("finding", finding);
}

template <Is<Implausible> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [time_us, least_us, reason] = self;
  visit("time_us", time_us);
  visit("least_us", least_us);
  visit("reason", reason);
}

template <Is<EstimateTerm> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [name, us] = self;
  visit("name", name);
  visit("us", us);
}

template <Is<Estimated> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [estimate_us, terms, verification, not_verified_because, counted] = self;
  visit("estimate_us", estimate_us);
  visit("terms", terms);
  visit("verification", verification, kLater);
  visit("not_verified_because", not_verified_because, kLater);
  visit("counted", counted, kLater);
}

template <Is<CounterValue> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [name, value] = self;
  visit("name", name);
  visit("value", value);
}

template <Is<Measured> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [timing, verification, counters] = self;
  visit("timing", timing);
  visit("verification", verification);
  visit("counters", counters, kLater);
}

/// The properties of a problem besides the members below, from attention/problem_details.hpp.
/// Records have those that are unusual.
template <typename Self>
struct ProblemDetails {
  Self& problem;
};

template <Is<Problem> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  visit("batch", self.batch);
  visit("seq_len", self.seq_len);
  visit("heads", self.heads);
  visit("d_head", self.d_head);
  visit("dtype", self.dtype);
  visit("causal", self.causal);
  if constexpr (!std::is_const_v<Self>) {
    self = usual_problem(self);  // of what has just been read
  }
  ProblemDetails<Self> details{self};
  visit("details", details, kLater);
}

template <Is<Config> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [family, values] = self;
  visit("family", family);
  visit("values", values);
}

template <Is<DeviceLimits> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [name, uuid, arch, sm_count, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm,
         registers_per_sm, registers_per_block, max_registers_per_thread,
         smem_per_block_optin_bytes, smem_per_sm_bytes, smem_reserved_per_block_bytes, l2_bytes,
         total_memory_bytes, free_memory_bytes, clock_khz, memory_gbps] = self;
  visit("name", name);
  visit("uuid", uuid);
  visit("arch", arch);
  visit("sm_count", sm_count);
  visit("max_threads_per_block", max_threads_per_block);
  visit("max_threads_per_sm", max_threads_per_sm);
  visit("max_blocks_per_sm", max_blocks_per_sm);
  visit("registers_per_sm", registers_per_sm);
  visit("registers_per_block", registers_per_block);
  visit("max_registers_per_thread", max_registers_per_thread);
  visit("smem_per_block_optin_bytes", smem_per_block_optin_bytes);
  visit("smem_per_sm_bytes", smem_per_sm_bytes);
  visit("smem_reserved_per_block_bytes", smem_reserved_per_block_bytes);
  visit("l2_bytes", l2_bytes);
  visit("total_memory_bytes", total_memory_bytes);
  visit("free_memory_bytes", free_memory_bytes);
  visit("clock_khz", clock_khz);
  visit("memory_gbps", memory_gbps);
}

template <Is<MeasurePolicy> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [strategy, warmup, repeats, target_ci, budget_s, flush_l2, device_gate, cuda_graph,
         confidence, seed] = self;
  visit("strategy", strategy);
  visit("warmup", warmup);
  visit("repeats", repeats);
  visit("target_ci", target_ci);
  visit("budget_s", budget_s);
  visit("flush_l2", flush_l2);
  visit("device_gate", device_gate);
  visit("cuda_graph", cuda_graph);
  visit("confidence", confidence);
  visit("seed", seed);
}

template <Is<MeasuringSummary> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [stopped_because, rounds, final_rounds, samples_taken, samples_retaken, sentinel,
         drift_percent, elapsed_s, warnings] = self;
  visit("stopped_because", stopped_because);
  visit("rounds", rounds);
  visit("final_rounds", final_rounds);
  visit("samples_taken", samples_taken);
  visit("samples_retaken", samples_retaken);
  visit("sentinel", sentinel);
  visit("drift_percent", drift_percent);
  visit("elapsed_s", elapsed_s);
  visit("warnings", warnings);
}

template <Is<GpuConditions> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [readings, sm_mhz_min, sm_mhz_median, sm_mhz_max, power_w_median, power_w_max,
         temperature_c_max, throttle_reasons] = self;
  visit("readings", readings);
  visit("sm_mhz_min", sm_mhz_min);
  visit("sm_mhz_median", sm_mhz_median);
  visit("sm_mhz_max", sm_mhz_max);
  visit("power_w_median", power_w_median);
  visit("power_w_max", power_w_max);
  visit("temperature_c_max", temperature_c_max);
  visit("throttle_reasons", throttle_reasons);
}

template <Is<MatmulRate> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [tflops, sm_mhz] = self;
  visit("tflops", tflops);
  visit("sm_mhz", sm_mhz);
}

template <Is<RuleAudit> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [rule, pruned, audited, saved_compile_s, saved_measure_s, best_config, gain_percent] = self;
  visit("rule", rule);
  visit("pruned", pruned);
  visit("audited", audited);
  visit("saved_compile_s", saved_compile_s);
  visit("saved_measure_s", saved_measure_s);
  visit("best_config", best_config);
  visit("gain_percent", gain_percent);
}

template <Is<Toolchain> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [fatune_version, nvrtc_version, driver_version, driver_release] = self;
  visit("fatune_version", fatune_version);
  visit("nvrtc_version", nvrtc_version);
  visit("driver_version", driver_version);
  visit("driver_release", driver_release, kLater);
}

template <Is<ScalarPiece> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [offset, bytes, bits, type] = self;
  visit("offset", offset);
  visit("bytes", bytes);
  visit("bits", bits);
  visit("type", type, kLater);
}

template <Is<AddressPiece> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [offset, tensor, byte_offset] = self;
  visit("offset", offset);
  visit("tensor", tensor);
  visit("byte_offset", byte_offset);
}

template <Is<TensorMapPiece> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [offset, tensor, byte_offset, element_type, sizes, strides_bytes, box, element_strides,
         swizzle, interleave, l2_promotion, oob_fill] = self;
  visit("offset", offset);
  visit("tensor", tensor);
  visit("byte_offset", byte_offset);
  visit("element_type", element_type);
  visit("sizes", sizes);
  visit("strides_bytes", strides_bytes);
  visit("box", box);
  visit("element_strides", element_strides);
  visit("swizzle", swizzle);
  visit("interleave", interleave);
  visit("l2_promotion", l2_promotion);
  visit("oob_fill", oob_fill);
}

template <Is<KernelArgument> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [pointer, bytes, alignment, scalars, addresses, tensor_maps] = self;
  visit("pointer", pointer);
  visit("bytes", bytes);
  visit("alignment", alignment);
  visit("scalars", scalars);
  visit("addresses", addresses);
  visit("tensor_maps", tensor_maps);
}

template <Is<KernelBuffer> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [name, bytes, word, clear, output, element_type, shape] = self;
  visit("name", name);
  visit("bytes", bytes);
  visit("word", word);
  visit("clear", clear);
  visit("output", output);
  visit("element_type", element_type);
  visit("shape", shape);
}

template <Is<KernelArguments> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [standard, list, buffers] = self;
  visit("standard", standard);
  visit("list", list);
  visit("buffers", buffers);
}

template <Is<LaunchAttributes> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [cooperative, programmatic_stream_serialization, smem_carveout_percent] = self;
  visit("cooperative", cooperative);
  visit("programmatic_stream_serialization", programmatic_stream_serialization);
  visit("smem_carveout_percent", smem_carveout_percent);
}

template <Is<LaunchGeometry> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [grid, block, dynamic_smem_bytes, cluster, attributes, arguments] = self;
  visit("grid", grid);
  visit("block", block);
  visit("dynamic_smem_bytes", dynamic_smem_bytes);
  visit("cluster", cluster, kLater);
  visit("attributes", attributes, kLater);
  visit("arguments", arguments, kLater);
}

template <Is<AssemblerNote> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [code, text, loses_speed] = self;
  visit("code", code);
  visit("text", text);
  visit("loses_speed", loses_speed);
}

template <Is<ResourceFacts> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [registers_per_thread, spill_store_bytes, spill_load_bytes, local_bytes, static_smem_bytes,
         constant_bytes, code_bytes, notes] = self;
  visit("registers_per_thread", registers_per_thread);
  visit("spill_store_bytes", spill_store_bytes);
  visit("spill_load_bytes", spill_load_bytes);
  visit("local_bytes", local_bytes);
  visit("static_smem_bytes", static_smem_bytes);
  visit("constant_bytes", constant_bytes);
  visit("code_bytes", code_bytes);
  visit("notes", notes, kLater);
}

template <Is<NamedValue> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [name, text] = self;
  visit("name", name);
  visit("text", text);
}

/// All but the interval to the fastest one, which is of the race that has just ended.
template <Is<Result> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [config, short_form, kernel_name, parameters, facts, dynamic_smem_bytes, threads_per_block,
         blocks_per_sm, compile_ms, from_cache, artifact_key, total_flop, outcome, reused,
         same_code_as, pruned_by, rank, tie_group, relative_percent, to_fastest] = self;
  visit("config", config);
  visit("short_form", short_form);
  visit("kernel_name", kernel_name);
  visit("parameters", parameters);
  visit("facts", facts);
  visit("dynamic_smem_bytes", dynamic_smem_bytes);
  visit("threads_per_block", threads_per_block);
  visit("blocks_per_sm", blocks_per_sm);
  visit("compile_ms", compile_ms);
  visit("from_cache", from_cache);
  visit("artifact_key", artifact_key);
  visit("total_flop", total_flop);
  visit("outcome", outcome);
  visit("reused", reused);
  visit("same_code_as", same_code_as);
  visit("pruned_by", pruned_by);
  visit("rank", rank);
  visit("tie_group", tie_group);
  visit("relative_percent", relative_percent);
}

/// What a report says besides which problem it is of and its results, which are records themselves.
template <Is<ProblemReport> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [problem, run, ranking, failures, pruned, invalid, device_uuid, measuring, conditions,
         matmul, audited, audit] = self;
  visit("pruned", pruned);
  visit("invalid", invalid);
  visit("device_uuid", device_uuid);
  visit("measuring", measuring);
  visit("conditions", conditions);
  visit("matmul", matmul, kLater);
  visit("audit", audit);
}

/// What a run says besides how far it came and its problems.
template <Is<RunReport> Self, typename Visit>
void visit_members(Self& self, Visit&& visit) {
  auto& [command_line, started_at, wall_s, busy_s, gpus, measured, complete, space, family, device,
         toolchain, policy, problems, summary] = self;
  visit("command_line", command_line);
  visit("started_at", started_at);
  visit("wall_s", wall_s);
  visit("busy_s", busy_s);
  visit("gpus", gpus);
  visit("space", space);
  visit("family", family);
  visit("device", device);
  visit("toolchain", toolchain);
  visit("policy", policy);
}

}  // namespace fatune::record
