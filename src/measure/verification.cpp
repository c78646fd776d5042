#include "measure/verification.hpp"

#include <bit>
#include <stdexcept>

#include "measure/error_rule.hpp"
#include "measure/row_sample.hpp"

namespace fatune {
namespace {

constexpr auto kCountsBytes = static_cast<std::int64_t>(sizeof(CheckCounts) * kInputKinds.size());

double from_bits(unsigned bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

}  // namespace

Verifier::Verifier(const Problem& problem, std::uint64_t seed, const MeasurementModule& kernels,
                   const Tensors& tensors, const gpu::Stream& stream)
    : problem_(problem),
      seed_(seed),
      kernels_(kernels),
      tensors_(tensors),
      stream_(stream),
      references_(problem, seed, stream),
      device_counts_(kCountsBytes),
      host_counts_(kCountsBytes) {
  for (const InputKind kind : kInputKinds) {
    fill(kind);
    compute_references(kind);
  }
  stream_.synchronize();
}

void Verifier::fill(InputKind kind) const {
  tensors_.poison(stream_);
  const AttentionForwardArgs tensors = tensors_.attention_args();
  kernels_.fill_inputs(
      {const_cast<void*>(tensors.q), const_cast<void*>(tensors.k), const_cast<void*>(tensors.v),
       static_cast<unsigned long long>(tensor_elements(problem_)), seed_, tensors.seq_len,
       tensors.heads, static_cast<int>(kind)},
      stream_);
}

void Verifier::compute_references(InputKind kind) const {
  const AttentionForwardArgs tensors = tensors_.attention_args();
  kernels_.compute_references({tensors.q, tensors.k, tensors.v, references_.selection(),
                               references_.exact(kind), references_.rounded(kind), tensors.seq_len,
                               tensors.heads, tensors.softmax_scale, problem_.causal ? 1 : 0},
                              problem_, stream_);
}

void Verifier::clear_counts() const {
  gpu::fill_words_async(device_counts_.address(), 0, kCountsBytes / 4, stream_);
}

void Verifier::queue_check(InputKind kind) const {
  const AttentionForwardArgs tensors = tensors_.attention_args();
  CheckCounts* const counts = device_counts_.as<CheckCounts>() + static_cast<std::ptrdiff_t>(kind);
  kernels_.compare_output(
      {tensors.o, references_.selection(), references_.exact(kind), references_.rounded(kind),
       counts, static_cast<unsigned long long>(references_.elements()), tensors.seq_len,
       tensors.heads, static_cast<float>(kMismatchAtol), static_cast<float>(kMismatchRtol)},
      stream_);
  kernels_.scan_output(tensors.o, tensor_elements(problem_), counts, stream_);
  kernels_.check_guards(tensors_.guard_args(), Tensors::kGuardBands, counts, stream_);
}

const CheckCounts* Verifier::fetch_counts() const {
  gpu::copy_to_host_async(host_counts_.host(), device_counts_.address(), kCountsBytes, stream_);
  stream_.synchronize();
  return host_counts_.host_as<const CheckCounts>();
}

ErrorStats Verifier::stats_of(InputKind kind, const CheckCounts& counts) const {
  if (counts.bad_reference > 0) {
    throw std::logic_error("a reference output is not finite: the reference kernel is wrong");
  }
  ErrorStats stats;
  stats.input = input_kind_name(kind);
  stats.max_abs_error = from_bits(counts.max_abs_error_bits);
  stats.max_abs_difference = from_bits(counts.max_abs_difference_bits);
  stats.max_abs_reference_error = from_bits(counts.max_abs_reference_error_bits);
  stats.limit = error_limit(stats.max_abs_reference_error, from_bits(counts.max_abs_reference_bits),
                            problem_.dtype);
  stats.elements = references_.elements();
  stats.mismatched = static_cast<std::int64_t>(counts.mismatched);
  stats.not_finite = static_cast<std::int64_t>(counts.not_finite);
  stats.guard_bytes_changed = static_cast<std::int64_t>(counts.guard_bytes_changed);
  return stats;
}

Verdict Verifier::judge(std::span<const InputKind> kinds) const {
  const CheckCounts* const counts = fetch_counts();
  Verdict verdict{{describe_rows(problem_), seed_, {}}, std::nullopt};
  for (const InputKind kind : kinds) {
    verdict.verification.inputs.push_back(stats_of(kind, counts[static_cast<std::size_t>(kind)]));
    if (!verdict.finding) {
      verdict.finding = find_fault(verdict.verification.inputs.back());
    }
  }
  return verdict;
}

Verdict Verifier::verify(const LoadedKernel& kernel) const {
  clear_counts();
  for (const InputKind kind : kInputKinds) {
    fill(kind);
    kernel.launch(stream_);
    queue_check(kind);
  }
  return judge(kInputKinds);
}

Verdict Verifier::check_output(InputKind kind) const {
  clear_counts();
  queue_check(kind);
  return judge(std::span(&kind, 1));
}

}  // namespace fatune
