#include "attention/head_problem.hpp"

#include <algorithm>
#include <numbers>

namespace fatune {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t HeadProblem::q_blocks() const { return ceil_div(seq_len, tiles.query_rows); }

std::int64_t HeadProblem::kv_tiles() const { return ceil_div(seq_len, tiles.keys_per_step); }

std::int64_t HeadProblem::steps(std::int64_t q_block) const {
  const std::int64_t end = std::min((q_block + 1) * tiles.query_rows, seq_len);
  return causal ? ceil_div(end, tiles.keys_per_step) : kv_tiles();
}

std::int64_t HeadProblem::tile_of(std::int64_t q_block, std::int64_t step) const {
  return tiles.order == StepOrder::last_to_first ? steps(q_block) - 1 - step : step;
}

double HeadProblem::scale_log2() const {
  return std::numbers::log2e * static_cast<double>(usual_softmax_scale(d_head));
}

}  // namespace fatune
