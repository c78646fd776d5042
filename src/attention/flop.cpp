#include "attention/flop.hpp"

#include "attention/tensor_shape.hpp"
#include "attention/visible_keys.hpp"

namespace fatune {
namespace {

double all_heads(const Problem& problem) {
  return static_cast<double>(problem.batch) * static_cast<double>(problem.heads);
}

double all_pairs(const Problem& problem) {
  return static_cast<double>(problem.seq_len) * static_cast<double>(problem.seq_len_kv);
}

double dims_of(const Problem& problem) {
  return static_cast<double>(problem.d_head) + static_cast<double>(problem.d_head_v);
}

}  // namespace

double needed_flop(const Problem& problem) {
  return all_heads(problem) * 2.0 * visible_pairs(problem) * dims_of(problem);
}

double attention_flop(const Problem& problem) {
  const double pairs = all_pairs(problem);
  return all_heads(problem) * (2.0 * pairs * dims_of(problem) + 6.0 * pairs);
}

double literature_flop(const Problem& problem) {
  const bool halved =
      problem.causal && problem.window == 0 && problem.seq_len == problem.seq_len_kv;
  return halved ? all_heads(problem) * all_pairs(problem) * dims_of(problem) : needed_flop(problem);
}

std::int64_t needed_input_bytes(const Problem& problem) {
  const Mask mask = mask_of(problem);
  const std::int64_t keys =
      visible_keys(mask, problem.seq_len - 1).end - visible_keys(mask, 0).first;
  const std::int64_t of_keys =
      tensor_bytes(problem, TensorRole::k) + tensor_bytes(problem, TensorRole::v);
  return tensor_bytes(problem, TensorRole::q) + of_keys / problem.seq_len_kv * keys;
}

double needed_bytes(const Problem& problem) {
  return static_cast<double>(needed_input_bytes(problem) + tensor_bytes(problem, TensorRole::o));
}

}  // namespace fatune
