#include "measure/unrounded_reference.hpp"

#include <bit>

#include "model/quantization_error.hpp"
#include "model/row_sample.hpp"

namespace fatune {
namespace {

std::int64_t bytes_of(std::int64_t elements) {
  return elements * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

UnroundedReference::UnroundedReference(UnroundedAttentionArgs args, std::int64_t elements,
                                       const Problem& problem, const MeasurementModule& kernels,
                                       const gpu::Stream& stream)
    : exact_(bytes_of(elements)) {
  args.reference.exact = exact_.as<float>();
  kernels.compute_unrounded(args, problem, stream);
}

void UnroundedReference::queue_compare(CompareArgs args, const MeasurementModule& kernels,
                                       const gpu::Stream& stream) const {
  args.exact = exact_.as<const float>();
  gpu::fill_words_async(device_counts_.address(), 0, device_counts_.bytes() / 4, stream);
  kernels.compare_unrounded({args, device_counts_.as<UnroundedCounts>()}, stream);
  gpu::copy_to_host_async(host_counts_.host(), device_counts_.address(), device_counts_.bytes(),
                          stream);
}

void UnroundedReference::set_error(ErrorStats& stats) const {
  const auto& counts = *host_counts_.host_as<const UnroundedCounts>();
  set_quantization_error({counts.squared_error, counts.squared,
                          double{std::bit_cast<float>(counts.max_abs_error_bits)}},
                         stats);
}

std::int64_t unrounded_reference_bytes(const Problem& problem) {
  return bytes_of(sampled_rows_per_head(problem) * output_heads(problem) * problem.d_head_v) +
         static_cast<std::int64_t>(sizeof(UnroundedCounts));
}

}  // namespace fatune
