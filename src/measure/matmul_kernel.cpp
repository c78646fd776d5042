#include "measure/matmul_kernel.hpp"

#include <utility>

#include <fmt/format.h>

namespace fatune {

std::vector<std::string> matmul_source_names() {
  return {
      "reference/matmul_rate.cu",   "reference/matmul_rate_args.h", "reference/matmul_operands.cuh",
      "reference/matmul_wgmma.cuh", "reference/matmul_mma.cuh",     "reference/philox.cuh",
      "common/ptx_convert.cuh",     "common/ptx_memory.cuh",        "common/ptx_mma.cuh",
      "common/ptx_tma.cuh",         "common/ptx_wgmma.cuh"};
}

CompileRequest matmul_request(std::shared_ptr<const SourceBundle> sources, DType dtype, Arch arch) {
  CompileRequest request;
  request.label = fmt::format("dense products, {}", dtype_name(dtype));
  request.sources = std::move(sources);
  request.options = {"--std=c++20"};
  request.defines = {{"FATUNE_IS_BF16", dtype == DType::bf16 ? "true" : "false"}};
  request.entry_point = "fatune_matmul_rate";
  request.arch = arch;
  return request;
}

}  // namespace fatune
