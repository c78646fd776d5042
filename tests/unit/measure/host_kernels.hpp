#pragma once

#include <cstdint>

#include "attention/problem.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// The measurement kernels of one element type and its head dimensions, compiled for the host: the
/// device's own source (kernels/reference) by way of device_on_host.hpp.
struct HostKernels {
  DType dtype;
  int d_head;
  int d_head_v;
  void (*fill_inputs)(const FillInputsArgs& args);
  void (*reference_attention)(const ReferenceArgs& args);
  void (*compare_output)(const CompareArgs& args);
  void (*count_rows)(const CountRowsArgs& args);
  void (*scan_output)(const void* output, unsigned long long chunks, CheckCounts* counts);
  void (*check_guards)(const GuardArgs& args, unsigned bands, CheckCounts* counts);
  void (*sum_inputs)(const InputSumArgs& args);
  void (*row_statistics)(const RowStatisticsArgs& args);
  void (*greatest_norms)(const NormArgs& args);
  void (*check_row_values)(const RowValueArgs& args);
  void (*device_gate)(const GateArgs& args);
  void (*clock_span)(const ClockSpanArgs& args, unsigned blocks);
};

[[nodiscard]] const HostKernels& host_kernels_fp16_d64();
[[nodiscard]] const HostKernels& host_kernels_bf16_d40();  ///< padding in tiles; d_head_v is 24

/// Time that the host's device gate sees pass at each look at its clock.
inline constexpr unsigned long long kHostClockStepNs = 1'000'000;

/// Philox4x32-10, for known answers.
struct Words {
  std::uint32_t x, y, z, w;
  bool operator==(const Words&) const = default;
};
[[nodiscard]] Words host_philox(Words counter, std::uint64_t seed);

}  // namespace fatune
