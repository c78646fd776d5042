#pragma once

#include <cstdint>

#include "model/problem.hpp"
#include "reference/measurement_args.h"
#include "reference/read_memory_args.h"

namespace fatune {

/// The measurement kernels of one element type of O and its head dimensions. They are compiled for
/// the host from the device's own source (kernels/reference) with device_on_host.hpp.
struct HostKernels {
  DType dtype;
  int d_head;
  int d_head_v;
  void (*fill_inputs)(const FillInputsArgs& args);
  void (*reference_attention)(const ReferenceArgs& args);
  void (*compare_output)(const CompareArgs& args);
  void (*unrounded_attention)(const UnroundedAttentionArgs& args);  // null: elements have 16 bits
  void (*compare_unrounded)(const CompareUnroundedArgs& args);      // likewise
  void (*count_rows)(const CountRowsArgs& args);
  void (*scan_output)(const void* output, unsigned long long chunks, CheckCounts* counts);
  void (*check_guards)(const GuardArgs& args, unsigned bands, CheckCounts* counts);
  void (*sum_inputs)(const InputSumArgs& args);
  void (*row_statistics)(const RowStatisticsArgs& args);
  void (*greatest_norms)(const NormArgs& args);
  void (*check_row_values)(const RowValueArgs& args);
  void (*read_memory)(const ReadMemoryArgs& args);
  void (*device_gate)(const GateArgs& args);
  void (*clock_span)(const ClockSpanArgs& args, unsigned blocks);
};

[[nodiscard]] const HostKernels& host_kernels_fp16_d64();
[[nodiscard]] const HostKernels& host_kernels_e4m3_d64();  ///< K and V e4m3, the others fp16
[[nodiscard]] const HostKernels& host_kernels_q8_d64();    ///< Q, K and V e4m3, O bf16
[[nodiscard]] const HostKernels& host_kernels_bf16_d40();  ///< tiles have padding; d_head_v is 24

/// The time by which the clock advances each time the host's kernels read it.
inline constexpr unsigned long long kHostClockStepNs = 1'000'000;

/// A counter or a result of Philox4x32-10, for tests with known answers.
struct Words {
  std::uint32_t x, y, z, w;
  bool operator==(const Words&) const = default;
};
[[nodiscard]] Words host_philox(Words counter, std::uint64_t seed);

}  // namespace fatune
