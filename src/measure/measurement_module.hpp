#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/context.hpp"
#include "gpu/module.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "model/problem.hpp"
#include "reference/measurement_args.h"
#include "reference/read_memory_args.h"

namespace fatune {

/// Files of the kernels that make inputs, references, comparisons, the flush and the gate: paths
/// relative to the folder kernels/, the translation unit first, then its headers. The caller reads
/// them and makes the SourceBundle; each file's name in the bundle is its path in this list.
[[nodiscard]] std::vector<std::string> measurement_source_names();

/// The request to compile for Measurer::begin_problem(). It depends only on the problem's dtype and
/// head dimensions, so that an artifact serves all problems that share them. Throws Error(usage) if
/// a head dimension is no multiple of 8 from 8 to 256.
[[nodiscard]] CompileRequest measurement_request(std::shared_ptr<const SourceBundle> sources,
                                                 const Problem& problem, Arch arch);

/// Files of the kernels that multiply and read memory as fast as the device can, listed like
/// measurement_source_names().
[[nodiscard]] std::vector<std::string> matmul_source_names();

/// The request to compile for measure_matmul_rate() and measure_memory_rate().
[[nodiscard]] CompileRequest matmul_request(std::shared_ptr<const SourceBundle> sources,
                                            DType dtype, Arch arch);

/// The loaded measurement kernels of one (dtype, d_head). Each function queues one of them. The
/// kernels are in kernels/reference. All functions throw gpu::DriverError.
class MeasurementModule {
 public:
  /// `kernels` must be compiled from measurement_request().
  explicit MeasurementModule(const Artifact& kernels) : module_(kernels.cubin) {}

  void fill_inputs(const FillInputsArgs& args, const gpu::Stream& stream) const;
  void compute_references(const ReferenceArgs& args, const Problem& problem,
                          const gpu::Stream& stream) const;
  void compare_output(const CompareArgs& args, const gpu::Stream& stream) const {
    gpu::launch_with(compare_output_, strided_grid(args.elements), stream, args);
  }
  /// Computes exact attention of the inputs before they were rounded to 8 bits. Only kernels for
  /// problems with elements of 8 bits have this and the comparison with it.
  void compute_unrounded(const UnroundedAttentionArgs& args, const Problem& problem,
                         const gpu::Stream& stream) const;
  void compare_unrounded(const CompareUnroundedArgs& args, const gpu::Stream& stream) const {
    gpu::launch_with(module_.function("fatune_compare_unrounded"),
                     strided_grid(args.compare.elements), stream, args);
  }
  void count_rows(const CountRowsArgs& args, const gpu::Stream& stream) const {
    gpu::launch_with(count_rows_, strided_grid(args.compare.elements), stream, args);
  }
  void scan_output(const void* output, std::int64_t elements, CheckCounts* counts,
                   const gpu::Stream& stream) const;
  void check_guards(const GuardArgs& args, std::int64_t bands, CheckCounts* counts,
                    const gpu::Stream& stream) const;
  void sum_inputs(const InputSumArgs& args, const gpu::Stream& stream) const;
  /// Adds the same kind of sum, of one tensor, to `sum`.
  void sum_tensor(const void* data, std::int64_t bytes, InputSum* sum,
                  const gpu::Stream& stream) const {
    const auto all = static_cast<unsigned long long>(bytes);
    gpu::launch_with(sum_inputs_, strided_grid(all / kSummedBytes), stream,
                     InputSumArgs{data, data, data, {all, all, all}, sum});
  }
  /// Computes the references of outputs other than O.
  void compute_row_statistics(const RowStatisticsArgs& args, const Problem& problem,
                              const gpu::Stream& stream) const;
  void find_greatest_norms(const NormArgs& args, const gpu::Stream& stream) const;
  void check_row_values(const RowValueArgs& args, const gpu::Stream& stream) const {
    gpu::launch_with(check_row_values_, strided_grid(args.elements), stream, args);
  }
  void read_memory(const ReadMemoryArgs& args, const gpu::Stream& stream) const {
    gpu::launch_with(read_memory_, {{kMaxBlocks, 1, 1}, {kReadThreads, 1, 1}, 0}, stream, args);
  }
  void hold(const GateArgs& args, const gpu::Stream& stream) const {
    gpu::launch_with(device_gate_, LaunchGeometry{}, stream, args);
  }
  /// Launches several blocks for each SM, because nothing guarantees that they are spread out
  /// evenly.
  void read_clock_span(const ClockSpanArgs& args, const gpu::Stream& stream) const {
    gpu::launch_with(clock_span_, {{kMaxBlocks, 1, 1}, {1, 1, 1}, 0}, stream, args);
  }

 private:
  // The kernels' loops stride over the grid. Eight blocks for each of 132 SMs keep all of them
  // busy.
  static constexpr std::int64_t kMaxBlocks = 1056;
  // What a thread of fatune_sum_inputs reads at a time.
  static constexpr std::uint64_t kSummedBytes = 16;

  /// A grid with a block per 256 items, but at most kMaxBlocks, and `y` independent parts. `items`
  /// are those of the greatest part: Q may be tiny where K and V are large.
  [[nodiscard]] static LaunchGeometry strided_grid(std::uint64_t items, std::int64_t y = 1);
  template <typename Args>
  static void launch_on_rows(const gpu::Function& kernel, const Args& args,
                             const RowSelection& selection, const Problem& problem,
                             const gpu::Stream& stream);

  gpu::Module module_;
  gpu::Function fill_inputs_ = module_.function("fatune_fill_inputs");
  gpu::Function reference_attention_ = module_.function("fatune_reference_attention");
  gpu::Function compare_output_ = module_.function("fatune_compare_output");
  gpu::Function count_rows_ = module_.function("fatune_count_rows");
  gpu::Function scan_output_ = module_.function("fatune_scan_output");
  gpu::Function check_guards_ = module_.function("fatune_check_guards");
  gpu::Function sum_inputs_ = module_.function("fatune_sum_inputs");
  gpu::Function row_statistics_ = module_.function("fatune_row_statistics");
  gpu::Function greatest_norms_ = module_.function("fatune_greatest_norms");
  gpu::Function check_row_values_ = module_.function("fatune_check_row_values");
  gpu::Function read_memory_ = module_.function("fatune_read_memory");
  gpu::Function device_gate_ = module_.function("fatune_device_gate");
  gpu::Function clock_span_ = module_.function("fatune_clock_span");
};

}  // namespace fatune
