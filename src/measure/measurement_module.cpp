#include "measure/measurement_module.hpp"

#include <algorithm>

#include "reference/reference_tile.h"

namespace fatune {
namespace {

constexpr std::int64_t kBlockThreads = 256;
// The kernels' loops stride over the grid. Eight blocks for each of 132 SMs keep all of them busy.
constexpr std::int64_t kMaxBlocks = 1056;
constexpr std::int64_t kInputTensors = 3;  // Q, K, V

// A grid with a block per 256 items, but at most kMaxBlocks, and `y` independent parts.
LaunchGeometry strided_grid(std::uint64_t items, std::int64_t y = 1) {
  const auto blocks = static_cast<std::int64_t>((items + kBlockThreads - 1) / kBlockThreads);
  return {{std::clamp<std::int64_t>(blocks, 1, kMaxBlocks), y, 1}, {kBlockThreads, 1, 1}, 0};
}

}  // namespace

MeasurementModule::MeasurementModule(const Artifact& kernels)
    : module_(kernels.cubin),
      fill_inputs_(module_.function("fatune_fill_inputs")),
      reference_attention_(module_.function("fatune_reference_attention")),
      compare_output_(module_.function("fatune_compare_output")),
      count_rows_(module_.function("fatune_count_rows")),
      scan_output_(module_.function("fatune_scan_output")),
      check_guards_(module_.function("fatune_check_guards")),
      sum_inputs_(module_.function("fatune_sum_inputs")),
      row_statistics_(module_.function("fatune_row_statistics")),
      greatest_norms_(module_.function("fatune_greatest_norms")),
      check_row_values_(module_.function("fatune_check_row_values")),
      device_gate_(module_.function("fatune_device_gate")),
      clock_span_(module_.function("fatune_clock_span")) {}

void MeasurementModule::fill_inputs(const FillInputsArgs& args, std::int64_t elements,
                                    const gpu::Stream& stream) const {
  gpu::launch_with(fill_inputs_,
                   strided_grid(static_cast<std::uint64_t>(elements / 4), kInputTensors), stream,
                   args);
}

// Launches a block for each tile of selected rows, which is how the reference kernel works.
template <typename Args>
void MeasurementModule::launch_on_rows(const gpu::Function& kernel, const Args& args,
                                       const RowSelection& selection, const Problem& problem,
                                       const gpu::Stream& stream) {
  const std::int64_t smem_bytes =
      reference_shared_bytes(static_cast<int>(problem.d_head), static_cast<int>(problem.d_head_v));
  const std::int64_t blocks = (selection.rows_per_head + kReferenceRows - 1) / kReferenceRows;
  kernel.allow_dynamic_smem(smem_bytes);
  gpu::launch_with(kernel,
                   {{blocks, problem.heads, problem.batch}, {kReferenceThreads, 1, 1}, smem_bytes},
                   stream, args);
}

void MeasurementModule::compute_references(const ReferenceArgs& args, const Problem& problem,
                                           const gpu::Stream& stream) const {
  launch_on_rows(reference_attention_, args, args.selection, problem, stream);
}

void MeasurementModule::compare_output(const CompareArgs& args, const gpu::Stream& stream) const {
  gpu::launch_with(compare_output_, strided_grid(args.elements), stream, args);
}

void MeasurementModule::count_rows(const CountRowsArgs& args, const gpu::Stream& stream) const {
  gpu::launch_with(count_rows_, strided_grid(args.compare.elements), stream, args);
}

void MeasurementModule::scan_output(const void* output, std::int64_t elements, CheckCounts* counts,
                                    const gpu::Stream& stream) const {
  const auto chunks = static_cast<unsigned long long>(elements / 8);
  gpu::launch_with(scan_output_, strided_grid(chunks), stream, output, chunks, counts);
}

void MeasurementModule::check_guards(const GuardArgs& args, std::int64_t bands, CheckCounts* counts,
                                     const gpu::Stream& stream) const {
  gpu::launch_with(check_guards_,
                   strided_grid((args.bands[0].end - args.bands[0].begin) / 4, bands), stream, args,
                   counts);
}

void MeasurementModule::sum_inputs(const InputSumArgs& args, const gpu::Stream& stream) const {
  gpu::launch_with(sum_inputs_, strided_grid(args.elements[0] / 8, kInputTensors), stream, args);
}

void MeasurementModule::sum_tensor(const InputSumArgs& args, const gpu::Stream& stream) const {
  gpu::launch_with(sum_inputs_, strided_grid(args.elements[0] / 8), stream, args);
}

void MeasurementModule::compute_row_statistics(const RowStatisticsArgs& args,
                                               const Problem& problem,
                                               const gpu::Stream& stream) const {
  launch_on_rows(row_statistics_, args, args.reference.selection, problem, stream);
}

void MeasurementModule::find_greatest_norms(const NormArgs& args, const gpu::Stream& stream) const {
  gpu::launch_with(greatest_norms_, strided_grid(args.rows[0], 2), stream, args);
}

void MeasurementModule::check_row_values(const RowValueArgs& args,
                                         const gpu::Stream& stream) const {
  gpu::launch_with(check_row_values_, strided_grid(args.elements), stream, args);
}

void MeasurementModule::hold(const GateArgs& args, const gpu::Stream& stream) const {
  gpu::launch_with(device_gate_, LaunchGeometry{}, stream, args);
}

// Launches several blocks for each SM, because nothing guarantees that they are spread out evenly.
void MeasurementModule::read_clock_span(const ClockSpanArgs& args,
                                        const gpu::Stream& stream) const {
  gpu::launch_with(clock_span_, {{kMaxBlocks, 1, 1}, {1, 1, 1}, 0}, stream, args);
}

}  // namespace fatune
