#include "attention/tensor_shape.hpp"

namespace fatune {

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

}  // namespace fatune
