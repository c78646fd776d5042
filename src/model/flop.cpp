#include "model/flop.hpp"

#include <algorithm>
#include <numeric>

#include "model/kv_lengths.hpp"

namespace fatune {
namespace {

/// 1 + 2 + ... + n; 0 for n < 1.
double triangle(std::int64_t n) {
  const auto count = static_cast<double>(std::max<std::int64_t>(n, 0));
  return count * (count + 1.0) / 2.0;
}

/// The sum of clamp(row + shift, 0, most) over rows 0 to rows - 1.
double clamped_sum(std::int64_t rows, std::int64_t shift, std::int64_t most) {
  // The sum of max(row + from, 0) over the rows. The part above the limit `most` is subtracted.
  const auto rising = [&](std::int64_t from) {
    const std::int64_t last = rows - 1 + from;
    return from > 0 ? triangle(last) - triangle(from - 1) : triangle(last);
  };
  return rising(shift) - rising(shift - most);
}

/// The sum of what `of` gives for each sequence.
template <typename Of>
auto sum_over_sequences(const Problem& problem, Of of) {
  const Sequence alike{.queries = problem.seq_len, .keys = problem.seq_len_kv};
  using Sum = decltype(of(alike));
  if (problem.seq_lens_kv.empty() && !is_packed(problem)) {
    return static_cast<Sum>(problem.batch) * of(alike);
  }
  const std::vector<Sequence> sequences = sequences_of(problem);
  return std::transform_reduce(sequences.begin(), sequences.end(), Sum{}, std::plus<>(), of);
}

double pairs_of_sequence(const Problem& problem, const Sequence& sequence) {
  const auto [queries, keys] = std::pair(sequence.queries, sequence.keys);
  const auto sum = [queries, keys](std::int64_t more) {
    return clamped_sum(queries, keys - queries + more, keys);
  };
  const double all = static_cast<double>(queries) * static_cast<double>(keys);
  const double ends = problem.causal ? sum(1) : problem.window > 0 ? sum(problem.window) : all;
  return ends - (problem.window > 0 ? sum(1 - problem.window) : 0.0);
}

double all_pairs(const Problem& problem) {
  return static_cast<double>(problem.heads) * sum_over_sequences(problem, [](const Sequence& of) {
           return static_cast<double>(of.queries) * static_cast<double>(of.keys);
         });
}

double dims_of(const Problem& problem) {
  return static_cast<double>(problem.d_head) + static_cast<double>(problem.d_head_v);
}

}  // namespace

KeyRange visible_keys(const Mask& mask, std::int64_t row) {
  const std::int64_t position = row + mask.seq_len_kv - mask.seq_len;
  const auto clamped = [&](std::int64_t key) {
    return std::clamp<std::int64_t>(key, 0, mask.seq_len_kv);
  };
  KeyRange keys{0, mask.seq_len_kv};
  if (mask.window > 0) {
    keys = {clamped(position - mask.window + 1), clamped(position + mask.window)};
  }
  if (mask.causal) {
    keys.end = std::min(keys.end, clamped(position + 1));
  }
  return keys;
}

KeyRange visible_rows(const Problem& problem, const Sequence& sequence, std::int64_t row) {
  const KeyRange keys = visible_keys(mask_of(problem, sequence), row - sequence.first_query);
  return {keys.first + sequence.first_key, keys.end + sequence.first_key};
}

std::int64_t rows_without_keys(const Problem& problem) {
  const auto of_sequence = [&](const Sequence& sequence) {
    const Mask mask = mask_of(problem, sequence);
    std::int64_t rows = 0;
    for (std::int64_t row = 0; row < sequence.queries; ++row) {
      rows += visible_keys(mask, row).size() <= 0 ? 1 : 0;
    }
    return rows;
  };
  return sum_over_sequences(problem, of_sequence) * problem.heads;
}

double visible_pairs(const Problem& problem) {
  return sum_over_sequences(
      problem, [&](const Sequence& sequence) { return pairs_of_sequence(problem, sequence); });
}

double needed_flop(const Problem& problem) {
  return static_cast<double>(problem.heads) * 2.0 * visible_pairs(problem) * dims_of(problem);
}

double attention_flop(const Problem& problem) {
  const double pairs = all_pairs(problem);
  return 2.0 * pairs * dims_of(problem) + 6.0 * pairs;
}

double literature_flop(const Problem& problem) {
  const bool halved = problem.causal && problem.window == 0 &&
                      problem.seq_len == problem.seq_len_kv && problem.seq_lens_kv.empty() &&
                      !is_packed(problem);
  return halved ? all_pairs(problem) * dims_of(problem) : needed_flop(problem);
}

std::int64_t needed_input_bytes(const Problem& problem) {
  constexpr std::int64_t kScaleBytes = 4;  // fp32
  const bool has_key_scales = problem.kv_scales == KvScales::token;
  const std::int64_t bytes_of_key =
      problem.kv_heads * ((problem.d_head + (problem.latent ? 0 : problem.d_head_v)) *
                              element_bytes(problem.kv_dtype) +
                          (has_key_scales ? 2 * kScaleBytes : 0));
  const auto keys_read = [&](const Sequence& sequence) {
    const Mask mask = mask_of(problem, sequence);
    return sequence.queries == 0
               ? 0
               : visible_keys(mask, sequence.queries - 1).end - visible_keys(mask, 0).first;
  };
  return tensor_bytes(problem, TensorRole::q) +
         bytes_of_key * sum_over_sequences(problem, keys_read);
}

std::int64_t needed_output_bytes(const Problem& problem) {
  constexpr std::int64_t kLseBytes = 4;  // fp32
  return tensor_bytes(problem, TensorRole::o) +
         (problem.lse ? kLseBytes * output_rows(problem) : 0);
}

}  // namespace fatune
