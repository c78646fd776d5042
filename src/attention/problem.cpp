#include "attention/problem.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {

std::string_view dtype_name(DType dtype) { return dtype == DType::fp16 ? "FP16" : "BF16"; }

DType parse_dtype(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (upper == "FP16") {
    return DType::fp16;
  }
  if (upper == "BF16") {
    return DType::bf16;
  }
  throw Error(ExitCode::usage, fmt::format("unknown dtype '{}'", text), {},
              "use fp16 or bf16 (any case)");
}

std::int64_t documented_batch(std::int64_t seq_len) {
  constexpr std::int64_t kMaxTokens = 65536;
  std::int64_t batch = 16;
  while (batch > 1 && batch * seq_len > kMaxTokens) {
    batch /= 2;
  }
  return batch;
}

std::int64_t tensor_elements(const Problem& problem) {
  return problem.batch * problem.seq_len * problem.heads * problem.d_head;
}

std::int64_t tensor_bytes(const Problem& problem) {
  return tensor_elements(problem) * element_bytes(problem.dtype);
}

void check_problem(const Problem& problem) {
  const auto positive = [](std::int64_t value, const char* name, std::int64_t greatest) {
    if (value < 1 || value > greatest) {
      throw Error(ExitCode::usage, fmt::format("{} is {}", name, value), {},
                  fmt::format("it must be an integer from 1 to {}", greatest));
    }
  };
  constexpr std::int64_t kGridYZ = 65535;  // CUDA's limit for gridDim.y and gridDim.z
  positive(problem.seq_len, "seq_len", std::int64_t{1} << 24);
  positive(problem.d_head, "d_head", 1024);
  positive(problem.heads, "heads", kGridYZ);
  positive(problem.batch, "batch", kGridYZ);
}

double attention_flop(const Problem& problem) {
  const auto s = static_cast<double>(problem.seq_len);
  const auto d = static_cast<double>(problem.d_head);
  return static_cast<double>(problem.batch) * static_cast<double>(problem.heads) *
         (4.0 * s * s * d + 6.0 * s * s);
}

double literature_flop(const Problem& problem) {
  const auto s = static_cast<double>(problem.seq_len);
  const auto d = static_cast<double>(problem.d_head);
  const double full =
      4.0 * s * s * d * static_cast<double>(problem.batch) * static_cast<double>(problem.heads);
  return problem.causal ? full / 2.0 : full;
}

std::string describe(const Problem& problem) {
  return fmt::format("b{} s{} h{} d{} {}{}", problem.batch, problem.seq_len, problem.heads,
                     problem.d_head, dtype_name(problem.dtype), problem.causal ? " causal" : "");
}

}  // namespace fatune
