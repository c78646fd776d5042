#include "debug/step_values.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace fatune {

const std::vector<double>& StepValues::of(StepTensor tensor) const {
  const std::array<const std::vector<double>*, 6> tensors{&s, &m, &p, &l, &o, &output};
  return *tensors.at(static_cast<std::size_t>(tensor));
}

std::vector<double>& StepValues::of(StepTensor tensor) {
  const std::array<std::vector<double>*, 6> tensors{&s, &m, &p, &l, &o, &output};
  return *tensors.at(static_cast<std::size_t>(tensor));
}

std::vector<std::int64_t> tensor_shape(const HeadProblem& head, StepTensor tensor) {
  switch (tensor) {
    case StepTensor::s:
    case StepTensor::p:
      return {head.rows(), head.keys()};
    case StepTensor::m:
    case StepTensor::l:
      return {head.kv_tiles(), head.rows()};
    case StepTensor::o:
      return {head.kv_tiles(), head.rows(), head.d_head};
    case StepTensor::output:
      break;
  }
  return {head.seq_len, head.d_head};
}

StepValues empty_values(const HeadProblem& head) {
  StepValues values;
  for (const StepTensor tensor : {StepTensor::s, StepTensor::m, StepTensor::p, StepTensor::l,
                                  StepTensor::o, StepTensor::output}) {
    const std::vector<std::int64_t> shape = tensor_shape(head, tensor);
    const std::int64_t elements =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    values.of(tensor).assign(static_cast<std::size_t>(elements),
                             std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

StepWindow step_window(const HeadProblem& head, StepTensor tensor, std::int64_t q_block,
                       std::int64_t step) {
  const std::int64_t row = q_block * head.tiles.query_rows;
  const std::int64_t rows = std::min(head.tiles.query_rows, head.seq_len - row);
  const std::int64_t tile = tensor == StepTensor::output ? 0 : head.tile_of(q_block, step);
  const auto at = [](std::int64_t index) { return static_cast<std::size_t>(index); };
  switch (tensor) {
    case StepTensor::s:
    case StepTensor::p: {
      const std::int64_t key = tile * head.tiles.keys_per_step;
      return {
          at(row * head.keys() + key), at(head.keys()), rows, head.tiles.keys_per_step, row, key};
    }
    case StepTensor::m:
    case StepTensor::l:
      return {row_index(head, tile, row), 1, rows, 1, row, 0};
    case StepTensor::o:
      return {
          row_index(head, tile, row) * at(head.d_head), at(head.d_head), rows, head.d_head, row, 0};
    case StepTensor::output:
      break;
  }
  return {at(row * head.d_head), at(head.d_head), rows, head.d_head, row, 0};
}

}  // namespace fatune
