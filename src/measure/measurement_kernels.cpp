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
  CompileRequest request;
  request.label =
      fmt::format("measurement kernels, {}, d_head {}", dtype_name(problem.dtype), problem.d_head);
  request.sources = std::move(sources);
  // The constexpr functions of reference_tile.h are the host's too, and carry no __device__.
  request.options = {"--std=c++20", "--device-as-default-execution-space"};
  request.defines = {{"FATUNE_IS_BF16", problem.dtype == DType::bf16 ? "true" : "false"},
                     {"FATUNE_HEAD_DIM", std::to_string(problem.d_head)},
                     {"FATUNE_HEAD_DIM_V", std::to_string(problem.d_head_v)}};
  request.entry_point = "fatune_reference_attention";
  request.arch = arch;
  return request;
}

}  // namespace fatune
