#include "attention/flop.hpp"

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

}  // namespace fatune
