#include "attention/problem.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "attention/problem_details.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

void check_range(std::int64_t value, std::string_view name, std::int64_t least,
                 std::int64_t greatest) {
  if (value < least || value > greatest) {
    throw Error(ExitCode::usage, fmt::format("{} is {}", name, value), {},
                fmt::format("it must be an integer from {} to {}", least, greatest));
  }
}

}  // namespace

std::string_view dtype_name(DType dtype) { return dtype == DType::fp16 ? "FP16" : "BF16"; }

DType parse_dtype(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(),
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

std::string_view layout_name(Layout layout) { return layout == Layout::bshd ? "bshd" : "bhsd"; }

Layout parse_layout(std::string_view text) {
  for (const Layout layout : {Layout::bshd, Layout::bhsd}) {
    if (text == layout_name(layout)) {
      return layout;
    }
  }
  throw Error(ExitCode::usage, fmt::format("unknown layout '{}'", text), {},
              "use bshd (batch, sequence, heads, d) or bhsd (batch, heads, sequence, d)");
}

float usual_softmax_scale(std::int64_t d_head) {
  return 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(d_head, 1)));
}

std::int64_t default_batch(std::int64_t seq_len) {
  constexpr std::int64_t kMaxTokens = 65536;
  std::int64_t batch = 16;
  while (batch > 1 && batch * seq_len > kMaxTokens) {
    batch /= 2;
  }
  return batch;
}

std::int64_t output_rows(const Problem& problem) {
  return problem.batch * problem.heads * problem.seq_len;
}

std::int64_t group_size(const Problem& problem) { return problem.heads / problem.kv_heads; }

void check_problem(const Problem& problem) {
  constexpr std::int64_t kGridYZ = 65535;  // CUDA's limit for gridDim.y and gridDim.z
  check_range(problem.seq_len, "seq_len", 1, kMostSeqLen);
  check_range(problem.d_head, "d_head", 1, kMostHeadDim);
  check_range(problem.heads, "heads", 1, kGridYZ);
  check_range(problem.batch, "batch", 1, kGridYZ);
  check_details(problem);
  if (problem.heads % problem.kv_heads != 0) {
    throw Error(ExitCode::usage,
                fmt::format("{} heads of queries cannot share {} heads of keys", problem.heads,
                            problem.kv_heads),
                {}, "kv_heads must divide heads");
  }
}

std::string describe(const Problem& problem) {
  std::string text =
      fmt::format("b{} s{} h{} d{} {}{}", problem.batch, problem.seq_len, problem.heads,
                  problem.d_head, dtype_name(problem.dtype), problem.causal ? " causal" : "");
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      text += fmt::format(" {}{}", detail.label, detail_text(detail, problem));
    }
  }
  return text;
}

std::string option_text(const Problem& problem) {
  std::string text = fmt::format("--seq {} --batch {} --heads {} --dhead {} --dtype {}{}",
                                 problem.seq_len, problem.batch, problem.heads, problem.d_head,
                                 dtype_name(problem.dtype), problem.causal ? " --causal" : "");
  for (const ProblemDetail& detail : kProblemDetails) {
    if (is_unusual(detail, problem)) {
      const std::string value = detail_text(detail, problem);
      text += fmt::format(" {}{}{}", detail.option, value.empty() ? "" : " ", value);
    }
  }
  return text;
}

std::string file_name_part(const Problem& problem) {
  std::string name = describe(problem);
  std::ranges::replace(name, ' ', '_');
  return name;
}

namespace {

std::string range_name(const char* kind, const std::string& family, const Problem& problem) {
  return fmt::format("{}_{}_B{}_H{}_N{}_D{}", kind, family, problem.batch, problem.heads,
                     problem.seq_len, problem.d_head);
}

}  // namespace

std::string bench_range_name(const std::string& family, const Problem& problem) {
  return range_name("bench", family, problem);
}

std::string attention_range_name(const std::string& family, const Problem& problem,
                                 const std::string& config) {
  return fmt::format("{} {}", range_name("attention", family, problem), config);
}

TensorShape tensor_shape(const Problem& problem, TensorRole role) {
  const bool of_keys = role == TensorRole::k || role == TensorRole::v;
  TensorShape shape;
  shape.batch = problem.batch;
  shape.rows = of_keys ? problem.seq_len_kv : problem.seq_len;
  shape.heads = of_keys ? problem.kv_heads : problem.heads;
  shape.columns =
      role == TensorRole::q || role == TensorRole::k ? problem.d_head : problem.d_head_v;
  shape.batch_stride = shape.rows * shape.heads * shape.columns;
  const bool heads_inside = problem.layout == Layout::bshd;
  shape.row_stride = heads_inside ? shape.heads * shape.columns : shape.columns;
  shape.head_stride = heads_inside ? shape.columns : shape.rows * shape.columns;
  return shape;
}

std::int64_t tensor_elements(const Problem& problem, TensorRole role) {
  return tensor_shape(problem, role).elements();
}

std::int64_t tensor_bytes(const Problem& problem, TensorRole role) {
  return tensor_elements(problem, role) * element_bytes(problem.dtype);
}

Problem probe_problem(const Problem& problem) {
  Problem probe = problem;
  probe.batch = 1;
  return probe;
}

std::int64_t short_length(std::int64_t seq_len) {
  if (seq_len <= kShortLength) {
    return seq_len;
  }
  const std::int64_t rest = seq_len % kShortLength;
  return rest < kShortLength / 2 ? kShortLength + rest : rest;
}

Problem small_problem(const Problem& problem) {
  Problem small = problem;
  small.batch = 1;
  small.seq_len = short_length(problem.seq_len);
  small.seq_len_kv = short_length(problem.seq_len_kv);
  return small;
}

std::optional<Problem> narrow_problem(const Problem& problem) {
  constexpr std::int64_t kPart = 3;  // a third of 256 keys is ragged for every tile
  Problem small = small_problem(problem);
  const auto longest = [](const Problem& of) { return std::max(of.seq_len, of.seq_len_kv); };
  if (problem.window >= longest(problem) || problem.window < longest(small)) {
    return std::nullopt;
  }
  small.window = (small.seq_len_kv + kPart - 1) / kPart;
  return small;
}

}  // namespace fatune
