#include "attention/traffic.hpp"

#include "attention/tensor_shape.hpp"
#include "attention/visible_keys.hpp"

namespace fatune {

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
