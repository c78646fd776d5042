#pragma once

#include <type_traits>

#include "attention/debug_request.hpp"
#include "attention/problem_details.hpp"
#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "core/matmul_rate.hpp"
#include "core/members.hpp"
#include "core/named_value.hpp"
#include "core/outcome.hpp"
#include "report/emulation.hpp"
#include "report/report.hpp"

// The members of each struct that records have: all (core/members.hpp) or some of them.
namespace fatune {

FATUNE_MEMBERS_AND_LATER(ErrorStats,
                         (input, max_abs_error, max_abs_difference, max_abs_reference_error, limit,
                          elements, mismatched, not_finite, guard_bytes_changed),
                         output)
FATUNE_MEMBERS(RowMismatches, input, rows_per_head, row, mismatched, beyond_limit)
FATUNE_MEMBERS_AND_LATER(Verification, (method, seed, inputs), rows, deterministic)
FATUNE_MEMBERS_AND_LATER(Timing,
                         (samples_us, median_us, mean_us, min_us, max_us, stddev_us, median_low_us,
                          median_high_us, confidence, stopped_because),
                         warnings, part_share)
FATUNE_MEMBERS(Pruned, rule, reason)
FATUNE_MEMBERS(Invalid, rule, reason)
FATUNE_MEMBERS(CompileFailed, log)
FATUNE_MEMBERS(CompilerCrashed, reason, log)
FATUNE_MEMBERS(Serialized, reason)
FATUNE_MEMBERS(Unlaunchable, limit)
FATUNE_MEMBERS(Crashed, error)
FATUNE_MEMBERS(TimedOut, deadline_ms)
FATUNE_MEMBERS(WrongResult, verification, finding)
FATUNE_MEMBERS(Flagged, verification, finding)
FATUNE_MEMBERS(Implausible, time_us, least_us, reason)
FATUNE_MEMBERS(EstimateTerm, name, us)
FATUNE_MEMBERS_AND_LATER(Estimated, (estimate_us, terms), verification, not_verified_because, from)
FATUNE_MEMBERS(CounterValue, name, value)
FATUNE_MEMBERS_AND_LATER(Measured, (timing, verification), counters)

/// The properties of a problem besides the members below, from attention/problem_details.hpp.
/// Records have only the unusual ones.
template <typename Self>
struct ProblemDetails {
  Self& problem;
};

template <Is<Problem> Self, typename Visit>
void visit_members(Self& self, const Visit& visit) {
  visit("batch", self.batch);
  visit("seq_len", self.seq_len);
  visit("heads", self.heads);
  visit("d_head", self.d_head);
  visit("dtype", self.dtype);
  visit("causal", self.causal);
  if constexpr (!std::is_const_v<Self>) {
    self = usual_problem(self);  // with the usual details for what was just read
  }
  ProblemDetails<Self> details{self};
  visit("details", details, Later{});
}

FATUNE_MEMBERS(CountedWork, tensor_flop, warpgroup_flop, special_functions, fp32_operations,
               integer_operations, warp_instructions, smem_traffic_bytes, global_sectors)
FATUNE_MEMBERS(Config, family, values)
FATUNE_MEMBERS_AND_LATER(MeasurePolicy,
                         (strategy, warmup, repeats, target_ci, budget_s, flush_l2, device_gate,
                          cuda_graph, confidence, seed),
                         parts)
FATUNE_MEMBERS_AND_LATER(MeasuringSummary,
                         (stopped_because, rounds, final_rounds, samples_taken, samples_retaken,
                          sentinel, drift_percent, elapsed_s, warnings),
                         part_rounds, part_share, at_sm_mhz)
FATUNE_MEMBERS_AND_LATER(GpuConditions,
                         (readings, sm_mhz_min, sm_mhz_median, sm_mhz_max, power_w_median,
                          power_w_max, temperature_c_max, throttle_reasons),
                         timeline)
FATUNE_MEMBERS(MatmulRate, tflops, sm_mhz)
FATUNE_MEMBERS(RuleAudit, rule, pruned, audited, saved_compile_s, saved_measure_s, best_config,
               gain_percent)
FATUNE_MEMBERS_AND_LATER(Toolchain, (fatune_version, nvrtc_version, driver_version), driver_release)
FATUNE_MEMBERS_AND_LATER(ScalarPiece, (offset, bytes, bits), type)
FATUNE_MEMBERS(AddressPiece, offset, tensor, byte_offset)
FATUNE_MEMBERS(TensorMapPiece, offset, tensor, byte_offset, element_type, sizes, strides_bytes, box,
               element_strides, swizzle, interleave, l2_promotion, oob_fill)
FATUNE_MEMBERS(KernelArgument, pointer, bytes, alignment, scalars, addresses, tensor_maps)
FATUNE_MEMBERS(KernelBuffer, name, bytes, word, clear, output, element_type, shape)
FATUNE_MEMBERS(KernelArguments, standard, list, buffers)
FATUNE_MEMBERS(LaunchAttributes, cooperative, programmatic_stream_serialization,
               smem_carveout_percent)
FATUNE_MEMBERS_AND_LATER(LaunchGeometry, (grid, block, dynamic_smem_bytes), cluster, attributes,
                         arguments)
FATUNE_MEMBERS(DumpExtents, rows, keys, kv_tiles)
FATUNE_MEMBERS(NamedValue, name, text)

/// All members but the interval to the fastest one, which belongs to the race that has just ended.
template <Is<Result> Self, typename Visit>
void visit_members(Self& self, const Visit& visit) {
  auto& [config, short_form, kernel_name, parameters, facts, dynamic_smem_bytes, threads_per_block,
         blocks_per_sm, compile_ms, from_cache, artifact_key, total_flop, outcome, reused,
         same_code_as, pruned_by, proposed_by, proposal, rank, tie_group, relative_percent,
         to_fastest] = self;
  FATUNE_VISIT(config, short_form, kernel_name, parameters, facts, dynamic_smem_bytes,
               threads_per_block, blocks_per_sm, compile_ms, from_cache, artifact_key, total_flop,
               outcome, reused, same_code_as, pruned_by, rank, tie_group, relative_percent);
  FATUNE_VISIT_LATER(proposed_by, proposal);
}

/// All members but the problem, the repetition and the results, which are stored separately.
template <Is<ProblemReport> Self, typename Visit>
void visit_members(Self& self, const Visit& visit) {
  auto& [problem, run, ranking, failures, pruned, invalid, untried, untried_because, device_uuid,
         measuring, conditions, matmul, audited, audit] = self;
  FATUNE_VISIT(pruned, invalid, device_uuid, measuring, conditions, audit);
  FATUNE_VISIT_LATER(matmul, untried, untried_because);
}

FATUNE_MEMBERS(PlacedProblem, place, problem)
FATUNE_MEMBERS(Shard, numbers, count, fleet, sweep, sweep_problems, problems)

/// All members but `complete`, `problems`, `choices` and `gate`.
template <Is<RunReport> Self, typename Visit>
void visit_members(Self& self, const Visit& visit) {
  auto& [command_line, started_at, wall_s, busy_s, gpus, measured, complete, space, family, device,
         toolchain, source_hashes, estimate_orders, imported_from, policy, problems, choices, gate,
         shard, uid, disturbances] = self;
  FATUNE_VISIT(command_line, started_at, wall_s, busy_s, gpus, space, family, device, toolchain,
               policy);
  if constexpr (!std::is_const_v<Self>) {
    measured = true;  // records from before estimates were stored lack it
  }
  FATUNE_VISIT_LATER(source_hashes, estimate_orders, imported_from, shard, uid, measured,
                     disturbances);
}

}  // namespace fatune
