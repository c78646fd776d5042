#include "measure/row_references.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "attention/error_rule.hpp"
#include "attention/row_sample.hpp"
#include "attention/visible_keys.hpp"

namespace fatune {
namespace {

std::int64_t selected_rows(const Problem& problem) {
  return sampled_rows_per_head(problem) * problem.batch * problem.heads;
}

unsigned long long row_count(const TensorView& tensor) {
  return static_cast<unsigned long long>(tensor.batch) *
         static_cast<unsigned long long>(tensor.rows) *
         static_cast<unsigned long long>(tensor.heads);
}

}  // namespace

std::int64_t row_reference_bytes(const Problem& problem) {
  return selected_rows(problem) * static_cast<std::int64_t>(sizeof(RowSoftmax));
}

RowReferences::RowReferences(const Problem& problem, const ReferenceArgs& reference,
                             const MeasurementModule& kernels, const gpu::Stream& stream)
    : problem_(problem),
      selection_(reference.selection),
      selected_(selected_rows(problem)),
      rows_(row_reference_bytes(problem)) {
  kernels.compute_row_statistics({reference, rows_.as<RowSoftmax>()}, problem, stream);
  limit_ = find_limit(reference, kernels, stream);
}

double RowReferences::find_limit(const ReferenceArgs& reference, const MeasurementModule& kernels,
                                 const gpu::Stream& stream) const {
  std::array<std::uint32_t, 2> bits{};
  const gpu::DeviceBuffer on_device(sizeof bits);
  gpu::fill_words_async(on_device.address(), 0, bits.size(), stream);
  kernels.find_greatest_norms({reference.q.data,
                               reference.k.data,
                               {row_count(reference.q), row_count(reference.k)},
                               on_device.as<unsigned>()},
                              stream);
  gpu::copy_to_host_async(bits.data(), on_device.address(), sizeof bits, stream);
  stream.synchronize();
  const auto norm = [](std::uint32_t squared) {
    return std::sqrt(static_cast<double>(std::bit_cast<float>(squared)));
  };
  return row_value_limit(problem_, norm(bits[0]) * norm(bits[1]));
}

RowValueArgs RowReferences::compare_args(const float* values, RowValue what,
                                         RowValueCounts* counts) const {
  return {values,
          static_cast<unsigned long long>(output_rows(problem_)),
          static_cast<int>(problem_.seq_len),
          static_cast<int>(what),
          selection_,
          static_cast<unsigned long long>(selected_),
          rows_.as<const RowSoftmax>(),
          static_cast<float>(limit_),
          counts};
}

ErrorStats RowReferences::stats(const RowValueCounts& counts) const {
  if (counts.bad_reference > 0) {
    throw std::logic_error("a row's reference is not finite: the reference kernel is wrong");
  }
  ErrorStats stats;
  stats.max_abs_error = static_cast<double>(std::bit_cast<float>(counts.max_abs_error_bits));
  stats.limit = limit_;
  stats.elements = static_cast<std::int64_t>(counts.compared);
  stats.mismatched = static_cast<std::int64_t>(counts.mismatched);
  const auto not_finite = static_cast<std::int64_t>(counts.not_finite);
  const std::int64_t surplus = static_cast<std::int64_t>(counts.none) - rows_without_keys(problem_);
  // Either too many rows are minus infinity, or too few. Of the latter, those that are NaN are
  // counted already.
  stats.not_finite = not_finite + std::max({surplus, -surplus - not_finite, std::int64_t{0}});
  return stats;
}

bool RowReferences::has_seen_all(const RowValueCounts& counts) const {
  return counts.compared == static_cast<unsigned long long>(selected_) &&
         counts.scanned == static_cast<unsigned long long>(output_rows(problem_));
}

}  // namespace fatune
