#include "model/scale_rows.hpp"

#include "model/kv_lengths.hpp"

namespace fatune {

ScaleRows::ScaleRows(const Problem& problem, TensorRole role)
    : shape_(scale_shape(problem, role)), block_(scale_block(problem)) {
  if (block_ > 0) {
    if (is_packed(problem)) {
      starts_ = starts_of(role == TensorRole::q ? query_lengths(problem) : kv_lengths(problem));
    }
  } else if (role != TensorRole::q) {
    keys_.emplace(problem, shape_);
  }
}

std::int64_t ScaleRows::offset(std::int64_t batch, std::int64_t row, std::int64_t head) const {
  if (block_ == 0) {
    return keys_ ? keys_->offset(batch, row, head) : shape_.row_offset(batch, row, head);
  }
  const SequenceRow at = starts_.empty() ? SequenceRow{batch, row} : row_in_sequence(starts_, row);
  return shape_.row_offset(at.sequence, at.row / block_, head);
}

}  // namespace fatune
