#include "measure/verification.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

#include "attention/error_rule.hpp"
#include "attention/probe_problem.hpp"
#include "attention/row_sample.hpp"
#include "measure/row_counts.hpp"

namespace fatune {
namespace {

constexpr auto kCountsBytes = static_cast<std::int64_t>(sizeof(CheckCounts) * kInputKinds.size());

std::size_t index_of(InputKind kind) { return static_cast<std::size_t>(kind); }

double from_bits(unsigned bits) { return static_cast<double>(std::bit_cast<float>(bits)); }

ErrorStats stats_of(const Stage& stage, const CheckCounts& counts) {
  if (counts.bad_reference > 0) {
    throw std::logic_error("a reference output is not finite: the reference kernel is wrong");
  }
  ErrorStats stats;
  stats.input = input_kind_name(stage.kind());
  stats.max_abs_error = from_bits(counts.max_abs_error_bits);
  stats.max_abs_difference = from_bits(counts.max_abs_difference_bits);
  stats.max_abs_reference_error = from_bits(counts.max_abs_reference_error_bits);
  stats.limit = error_limit(stats.max_abs_reference_error, from_bits(counts.max_abs_reference_bits),
                            stage.problem().dtype);
  stats.elements = static_cast<std::int64_t>(counts.compared);
  stats.mismatched = static_cast<std::int64_t>(counts.mismatched);
  stats.not_finite = static_cast<std::int64_t>(counts.not_finite);
  stats.guard_bytes_changed = static_cast<std::int64_t>(counts.guard_bytes_changed);
  return stats;
}

// A driver that runs nothing finds no fault either.
std::optional<std::string> find_missing_check(const Stage& stage, const CheckCounts& counts) {
  const auto to_compare = static_cast<unsigned long long>(stage.references().elements());
  const auto to_scan = static_cast<unsigned long long>(tensor_elements(stage.problem()));
  if (counts.compared == to_compare && counts.scanned == to_scan) {
    return std::nullopt;
  }
  return fmt::format(
      "input {}: the check did not run: {} of {} values were compared, {} of {} scanned",
      input_kind_name(stage.kind()), counts.compared, to_compare, counts.scanned, to_scan);
}

std::optional<std::string> find_write_to_inputs(const Stage& stage, const CheckCounts& counts) {
  if (!stage.inputs_changed(counts)) {
    return std::nullopt;
  }
  return fmt::format("input {}: wrote into its inputs", input_kind_name(stage.kind()));
}

std::optional<std::string> find_any_fault(const Stage& stage, const CheckCounts& counts,
                                          const ErrorStats& stats) {
  if (auto missing = find_missing_check(stage, counts)) {
    return missing;
  }
  if (auto written = find_write_to_inputs(stage, counts)) {
    return written;
  }
  return find_fault(stats);
}

}  // namespace

Verifier::Verifier(const Problem& problem, std::uint64_t seed, const MeasurementModule& kernels,
                   const gpu::Stream& stream, bool count_rows)
    : seed_(seed),
      count_rows_(count_rows),
      stream_(stream),
      stages_{Stage(problem, InputKind::normal, seed, kernels, stream),
              Stage(probe_problem(problem), InputKind::large_logits, seed, kernels, stream),
              Stage(probe_problem(problem), InputKind::dominating_key, seed, kernels, stream)},
      device_counts_(kCountsBytes),
      host_counts_(kCountsBytes) {}

const Stage& Verifier::stage(InputKind kind) const { return stages_.at(index_of(kind)); }

const Tensors& Verifier::tensors(InputKind kind) const { return stage(kind).tensors(); }

const CheckCounts* Verifier::fetch_counts() const {
  gpu::copy_to_host_async(host_counts_.host(), device_counts_.address(), kCountsBytes, stream_);
  stream_.synchronize();
  return host_counts_.host_as<const CheckCounts>();
}

std::string Verifier::method() const {
  const Problem& whole = stage(InputKind::normal).problem();
  const Problem probe = probe_problem(whole);
  std::string text = "gpu references, " + describe_rows(whole);
  if (probe != whole) {
    text += fmt::format("; {} and {} on batch {}, heads {}: {}", input_kind_name(kProbeKinds[0]),
                        input_kind_name(kProbeKinds[1]), probe.batch, probe.heads,
                        describe_rows(probe));
  }
  return text;
}

void Verifier::judge(InputKind kind, const CheckCounts& counts, Verdict& verdict) const {
  const Stage& checked = stage(kind);
  Verification& verification = verdict.verification;
  const ErrorStats& stats = verification.inputs.emplace_back(stats_of(checked, counts));
  if (!verdict.finding) {
    verdict.finding = find_any_fault(checked, counts, stats);
  }
  if (count_rows_) {
    verification.rows.push_back(count_rows(checked, stats, stream_));
  }
  if (counts.guard_bytes_changed > 0 || checked.inputs_changed(counts)) {
    verdict.damaged = true;
    checked.restore();
  }
}

Verdict Verifier::check(std::span<const InputKind> kinds) const {
  gpu::fill_words_async(device_counts_.address(), 0, kCountsBytes / 4, stream_);
  for (const InputKind kind : kinds) {
    stage(kind).queue_check(device_counts_.as<CheckCounts>() + index_of(kind));
  }
  const CheckCounts* const counts = fetch_counts();
  Verdict verdict{{method(), seed_, {}}, std::nullopt, false};
  for (const InputKind kind : kinds) {
    judge(kind, counts[index_of(kind)], verdict);
  }
  return verdict;
}

}  // namespace fatune
