#include "measure/row_counts.hpp"

#include <span>
#include <stdexcept>
#include <utility>

#include "gpu/memory.hpp"

namespace fatune {
namespace {

RowMismatches as_lists(const Stage& stage, RowSample sample, std::span<const RowCounts> counts) {
  RowMismatches rows;
  rows.input = input_kind_name(stage.kind());
  rows.rows_per_head = sample.rows_per_head;
  rows.row = std::move(sample.rows);
  for (const RowCounts& count : counts) {
    rows.mismatched.push_back(static_cast<std::int32_t>(count.mismatched));
    rows.beyond_limit.push_back(static_cast<std::int32_t>(count.beyond_limit));
  }
  return rows;
}

void check_sum(const RowMismatches& rows, const ErrorStats& stats) {
  std::int64_t mismatched = 0;
  for (const std::int32_t count : rows.mismatched) {
    mismatched += count;
  }
  if (mismatched != stats.mismatched) {
    throw std::logic_error("the rows' mismatches do not add up to those of the whole output");
  }
}

}  // namespace

RowMismatches count_rows(const Stage& stage, const ErrorStats& stats, const gpu::Stream& stream) {
  RowSample sample = stage.compared_rows();
  const std::size_t count = sample.rows.size();
  const auto bytes = static_cast<std::int64_t>(count * sizeof(RowCounts));
  const gpu::DeviceBuffer on_device(bytes);
  const gpu::PinnedBuffer on_host(bytes);
  gpu::fill_words_async(on_device.address(), 0, bytes / 4, stream);
  stage.queue_row_counts(on_device.as<RowCounts>(), static_cast<float>(stats.limit));
  gpu::copy_to_host_async(on_host.host(), on_device.address(), bytes, stream);
  stream.synchronize();
  RowMismatches rows =
      as_lists(stage, std::move(sample), {on_host.host_as<const RowCounts>(), count});
  check_sum(rows, stats);
  return rows;
}

}  // namespace fatune
