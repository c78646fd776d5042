#pragma once

#include <cstdint>

#include "attention/problem.hpp"
#include "core/kernel_code.hpp"
#include "gpu/context.hpp"
#include "gpu/module.hpp"
#include "reference/measurement_args.h"

namespace fatune {

/// The loaded measurement kernels of one (dtype, d_head). Each function queues one of them. The
/// kernels are in kernels/reference. All functions throw gpu::DriverError.
class MeasurementModule {
 public:
  /// `kernels` must be compiled from measurement_request().
  explicit MeasurementModule(const Artifact& kernels);

  /// `elements`: the approximate number of elements of a tensor.
  void fill_inputs(const FillInputsArgs& args, std::int64_t elements,
                   const gpu::Stream& stream) const;
  void compute_references(const ReferenceArgs& args, const Problem& problem,
                          const gpu::Stream& stream) const;
  void compare_output(const CompareArgs& args, const gpu::Stream& stream) const;
  void count_rows(const CountRowsArgs& args, const gpu::Stream& stream) const;
  void scan_output(const void* output, std::int64_t elements, CheckCounts* counts,
                   const gpu::Stream& stream) const;
  void check_guards(const GuardArgs& args, std::int64_t bands, CheckCounts* counts,
                    const gpu::Stream& stream) const;
  void sum_inputs(const InputSumArgs& args, const gpu::Stream& stream) const;
  /// Adds the same kind of sum, of one tensor: `args.q`.
  void sum_tensor(const InputSumArgs& args, const gpu::Stream& stream) const;
  /// Computes the references of outputs other than O.
  void compute_row_statistics(const RowStatisticsArgs& args, const Problem& problem,
                              const gpu::Stream& stream) const;
  void find_greatest_norms(const NormArgs& args, const gpu::Stream& stream) const;
  void check_row_values(const RowValueArgs& args, const gpu::Stream& stream) const;
  void hold(const GateArgs& args, const gpu::Stream& stream) const;
  void read_clock_span(const ClockSpanArgs& args, const gpu::Stream& stream) const;

 private:
  template <typename Args>
  static void launch_on_rows(const gpu::Function& kernel, const Args& args,
                             const RowSelection& selection, const Problem& problem,
                             const gpu::Stream& stream);

  gpu::Module module_;
  gpu::Function fill_inputs_;
  gpu::Function reference_attention_;
  gpu::Function compare_output_;
  gpu::Function count_rows_;
  gpu::Function scan_output_;
  gpu::Function check_guards_;
  gpu::Function sum_inputs_;
  gpu::Function row_statistics_;
  gpu::Function greatest_norms_;
  gpu::Function check_row_values_;
  gpu::Function device_gate_;
  gpu::Function clock_span_;
};

}  // namespace fatune
