#include "measure/references.hpp"

#include "attention/row_sample.hpp"

namespace fatune {

References::References(const Problem& problem, std::uint64_t seed, const gpu::Stream& stream) {
  const RowSample sample = sample_rows(problem, seed);
  const auto row_count = static_cast<std::int64_t>(sample.rows.size());
  rows_per_head_ = sample.rows_per_head;
  elements_ = row_count * problem.d_head_v;
  rows_ = gpu::DeviceBuffer(row_count * static_cast<std::int64_t>(sizeof(std::int32_t)));
  exact_ = gpu::DeviceBuffer(elements_ * static_cast<std::int64_t>(sizeof(float)));
  rounded_ = gpu::DeviceBuffer(elements_ * element_bytes(problem.dtype));
  gpu::copy_to_device_async(rows_.address(), sample.rows.data(), rows_.bytes(), stream);
  stream.synchronize();  // the positions are copied from memory that is freed here
}

RowSelection References::selection() const {
  return {rows_.as<const int>(), static_cast<int>(rows_per_head_)};
}

}  // namespace fatune
