#include "measure/measurement_module.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "reference/reference_tile.h"

namespace fatune {
namespace {

constexpr std::int64_t kHeadDimStep = 8;  // rows are read 16 bytes at a time
constexpr std::int64_t kMaxHeadDim = 576;

void check_head_dim(const char* name, std::int64_t d_head) {
  if (d_head < kHeadDimStep || d_head > kMaxHeadDim || d_head % kHeadDimStep != 0) {
    throw Error(ExitCode::usage, fmt::format("results cannot be verified for {} {}", name, d_head),
                {}, fmt::format("use a multiple of {} up to {}", kHeadDimStep, kMaxHeadDim));
  }
}

CompileRequest request_for(std::shared_ptr<const SourceBundle> sources, const char* entry_point,
                           DType dtype, Arch arch) {
  CompileRequest request;
  request.sources = std::move(sources);
  request.options = {"--std=c++20"};
  request.defines = {{"FATUNE_IS_BF16", dtype == DType::bf16 ? "true" : "false"}};
  request.entry_point = entry_point;
  request.arch = arch;
  return request;
}

constexpr std::int64_t kBlockThreads = 256;
constexpr std::int64_t kInputTensors = 3;  // Q, K, V

std::uint64_t element_count(const TensorView& tensor) {
  return static_cast<std::uint64_t>(tensor.batch) * static_cast<std::uint64_t>(tensor.rows) *
         static_cast<std::uint64_t>(tensor.heads) * static_cast<std::uint64_t>(tensor.columns);
}

}  // namespace

std::vector<std::string> measurement_source_names() {
  return {"reference/measurement.cu",
          "reference/check_output.cuh",
          "reference/count_rows.cuh",
          "reference/device_gate.cuh",
          "reference/element.cuh",
          "reference/extreme_inputs.h",
          "reference/grid_stride.cuh",
          "reference/read_memory.cuh",
          "reference/read_memory_args.h",
          "reference/measurement_args.h",
          "reference/outlier_inputs.h",
          "reference/philox.cuh",
          "reference/probability_units.h",
          "reference/random_inputs.cuh",
          "reference/reference_attention.cuh",
          "reference/reference_tile.h",
          "reference/row_values.cuh",
          "reference/unrounded_attention.cuh",
          "common/ptx_convert.cuh",
          "common/ptx_fp8.cuh",
          "common/ptx_math.cuh",
          "common/ptx_system.cuh"};
}

CompileRequest measurement_request(std::shared_ptr<const SourceBundle> sources,
                                   const Problem& problem, Arch arch) {
  check_head_dim("d_head", problem.d_head);
  check_head_dim("d_head_v", problem.d_head_v);
  CompileRequest request =
      request_for(std::move(sources), "fatune_reference_attention", output_dtype(problem), arch);
  request.label =
      fmt::format("measurement kernels, {}, d_head {}", dtype_name(problem.dtype), problem.d_head);
  // The constexpr functions of reference_tile.h are used on the host too, and have no __device__.
  request.options.emplace_back("--device-as-default-execution-space");
  request.defines.emplace_back("FATUNE_HEAD_DIM", std::to_string(problem.d_head));
  request.defines.emplace_back("FATUNE_HEAD_DIM_V", std::to_string(problem.d_head_v));
  if (has_scales(problem)) {
    request.defines.emplace_back("FATUNE_KV_DTYPE",
                                 std::to_string(static_cast<int>(problem.kv_dtype)));
  }
  if (has_query_scales(problem)) {
    request.defines.emplace_back("FATUNE_EIGHT_BIT_QUERIES", "1");
  }
  return request;
}

std::vector<std::string> matmul_source_names() {
  return {
      "reference/matmul_rate.cu",   "reference/matmul_rate_args.h", "reference/matmul_operands.cuh",
      "reference/matmul_wgmma.cuh", "reference/matmul_mma.cuh",     "reference/philox.cuh",
      "reference/grid_stride.cuh",  "reference/read_memory.cuh",    "reference/read_memory_args.h",
      "common/ptx_convert.cuh",     "common/ptx_memory.cuh",        "common/ptx_mma.cuh",
      "common/ptx_tma.cuh",         "common/ptx_wgmma.cuh"};
}

CompileRequest matmul_request(std::shared_ptr<const SourceBundle> sources, DType dtype, Arch arch) {
  CompileRequest request = request_for(std::move(sources), "fatune_matmul_rate", dtype, arch);
  request.label = fmt::format("dense products and reads, {}", dtype_name(dtype));
  return request;
}

LaunchGeometry MeasurementModule::strided_grid(std::uint64_t items, std::int64_t y) {
  const auto blocks = static_cast<std::int64_t>((items + kBlockThreads - 1) / kBlockThreads);
  return {{std::clamp<std::int64_t>(blocks, 1, kMaxBlocks), y, 1}, {kBlockThreads, 1, 1}, 0};
}

void MeasurementModule::fill_inputs(const FillInputsArgs& args, const gpu::Stream& stream) const {
  const std::uint64_t most =
      std::max({element_count(args.q), element_count(args.k), element_count(args.v)});
  gpu::launch_with(fill_inputs_, strided_grid(most / 4, kInputTensors), stream, args);
}

// Launches a block for each tile of selected rows, which is how the reference kernel works.
template <typename Args>
void MeasurementModule::launch_on_rows(const gpu::Function& kernel, const Args& args,
                                       const RowSelection& selection, const Problem& problem,
                                       const gpu::Stream& stream) {
  const std::int64_t batch = tensor_shape(problem, TensorRole::q).batch;
  const auto d_head = static_cast<int>(problem.d_head);
  const auto d_head_v = static_cast<int>(problem.d_head_v);
  const std::int64_t smem_bytes = reference_shared_bytes(d_head, d_head_v);
  const std::int64_t rows = reference_rows(d_head, d_head_v);
  const std::int64_t blocks = (selection.rows_per_head + rows - 1) / rows;
  kernel.allow_dynamic_smem(smem_bytes);
  gpu::launch_with(kernel, {{blocks, problem.heads, batch}, {kReferenceThreads, 1, 1}, smem_bytes},
                   stream, args);
}

void MeasurementModule::compute_references(const ReferenceArgs& args, const Problem& problem,
                                           const gpu::Stream& stream) const {
  launch_on_rows(reference_attention_, args, args.selection, problem, stream);
}

void MeasurementModule::compute_unrounded(const UnroundedAttentionArgs& args,
                                          const Problem& problem, const gpu::Stream& stream) const {
  launch_on_rows(module_.function("fatune_unrounded_attention"), args, args.reference.selection,
                 problem, stream);
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
  const std::uint64_t most = *std::ranges::max_element(args.bytes);
  gpu::launch_with(sum_inputs_, strided_grid(most / kSummedBytes, kInputTensors), stream, args);
}

void MeasurementModule::compute_row_statistics(const RowStatisticsArgs& args,
                                               const Problem& problem,
                                               const gpu::Stream& stream) const {
  launch_on_rows(row_statistics_, args, args.reference.selection, problem, stream);
}

void MeasurementModule::find_greatest_norms(const NormArgs& args, const gpu::Stream& stream) const {
  const std::uint64_t most = *std::ranges::max_element(args.rows);
  gpu::launch_with(greatest_norms_, strided_grid(most, 2), stream, args);
}

}  // namespace fatune
