#include "model/head_problem.hpp"

#include <algorithm>
#include <numbers>

#include "common/attention_args.h"
#include "common/attention_dump.h"

namespace fatune {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

constexpr std::int64_t kAlignment = alignof(AttentionForwardArgs);
static_assert(alignof(AttentionDump) == kAlignment);
static_assert(sizeof(AttentionForwardDumpArgs) ==
              sizeof(AttentionForwardArgs) + sizeof(AttentionDump));

ScalarPiece int_piece(std::size_t offset, std::int64_t value) {
  return {static_cast<std::int64_t>(offset), sizeof(int), static_cast<std::uint32_t>(value),
          "int32"};
}

}  // namespace

std::int64_t HeadProblem::q_blocks() const { return ceil_div(seq_len, tiles.query_rows); }

std::int64_t HeadProblem::kv_tiles() const { return ceil_div(seq_len_kv, tiles.keys_per_step); }

std::int64_t HeadProblem::steps(std::int64_t q_block) const {
  const std::int64_t end = std::min((q_block + 1) * tiles.query_rows, seq_len);
  return causal ? ceil_div(end + seq_len_kv - seq_len, tiles.keys_per_step) : kv_tiles();
}

double HeadProblem::scale_log2() const {
  return std::numbers::log2e * static_cast<double>(usual_softmax_scale(d_head));
}

std::vector<std::int64_t> row_value_shape(const Problem& problem) {
  const std::int64_t rows = rows_per_output_head(problem);
  return is_packed(problem) ? std::vector{problem.heads, rows}
                            : std::vector{problem.batch, problem.heads, rows};
}

KernelBuffer log_sum_exp_buffer(const Problem& problem) {
  KernelBuffer buffer;
  buffer.name = "lse";
  buffer.output = "lse";
  buffer.element_type = "float32";
  buffer.shape = row_value_shape(problem);
  buffer.bytes = output_rows(problem) * static_cast<std::int64_t>(sizeof(float));
  return buffer;
}

void add_dump(const DumpExtents& extents, KernelArguments& arguments) {
  using Dump = AttentionDump;
  if (!arguments.standard) {
    arguments.list.push_back({"/debug", 0, kAlignment, {}, {}, {}});
  }
  KernelArgument& argument = arguments.list.back();
  const auto begin = static_cast<std::size_t>(argument.bytes);
  const auto place = [&](std::size_t member, std::int64_t float_offset) {
    argument.addresses.push_back(
        {static_cast<std::int64_t>(begin + member), kDumpTensor, 4 * float_offset});
  };
  const std::int64_t p = extents.rows * extents.keys;
  const std::int64_t m = 2 * p;
  const std::int64_t l = m + extents.kv_tiles * extents.rows;
  place(offsetof(Dump, s), 0);
  place(offsetof(Dump, p), p);
  place(offsetof(Dump, m), m);
  place(offsetof(Dump, l), l);
  place(offsetof(Dump, o), l + extents.kv_tiles * extents.rows);
  argument.scalars.push_back(int_piece(begin + offsetof(Dump, rows), extents.rows));
  argument.scalars.push_back(int_piece(begin + offsetof(Dump, keys), extents.keys));
  argument.bytes += static_cast<std::int64_t>(sizeof(Dump));
}

}  // namespace fatune
