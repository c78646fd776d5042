#include "measure/measurement_kernels.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kHeadDimStep = 8;  // rows are read 16 bytes at a time
constexpr std::int64_t kMaxHeadDim = 256;

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

}  // namespace

std::vector<std::string> measurement_source_names() {
  return {"reference/measurement.cu",     "reference/check_output.cuh",
          "reference/count_rows.cuh",     "reference/device_gate.cuh",
          "reference/element.cuh",        "reference/extreme_inputs.h",
          "reference/measurement_args.h", "reference/philox.cuh",
          "reference/random_inputs.cuh",  "reference/reference_attention.cuh",
          "reference/reference_tile.h",   "reference/row_values.cuh",
          "common/ptx_convert.cuh",       "common/ptx_math.cuh",
          "common/ptx_system.cuh"};
}

CompileRequest measurement_request(std::shared_ptr<const SourceBundle> sources,
                                   const Problem& problem, Arch arch) {
  check_head_dim("d_head", problem.d_head);
  check_head_dim("d_head_v", problem.d_head_v);
  CompileRequest request =
      request_for(std::move(sources), "fatune_reference_attention", problem.dtype, arch);
  request.label =
      fmt::format("measurement kernels, {}, d_head {}", dtype_name(problem.dtype), problem.d_head);
  // The constexpr functions of reference_tile.h are used on the host too, and have no __device__.
  request.options.emplace_back("--device-as-default-execution-space");
  request.defines.emplace_back("FATUNE_HEAD_DIM", std::to_string(problem.d_head));
  request.defines.emplace_back("FATUNE_HEAD_DIM_V", std::to_string(problem.d_head_v));
  return request;
}

std::vector<std::string> matmul_source_names() {
  return {
      "reference/matmul_rate.cu",   "reference/matmul_rate_args.h", "reference/matmul_operands.cuh",
      "reference/matmul_wgmma.cuh", "reference/matmul_mma.cuh",     "reference/philox.cuh",
      "common/ptx_convert.cuh",     "common/ptx_memory.cuh",        "common/ptx_mma.cuh",
      "common/ptx_tma.cuh",         "common/ptx_wgmma.cuh"};
}

CompileRequest matmul_request(std::shared_ptr<const SourceBundle> sources, DType dtype, Arch arch) {
  CompileRequest request = request_for(std::move(sources), "fatune_matmul_rate", dtype, arch);
  request.label = fmt::format("dense products, {}", dtype_name(dtype));
  return request;
}

}  // namespace fatune
