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

/// The sum of what `of` gives for the keys of each sequence.
template <typename Of>
auto sum_over_sequences(const Problem& problem, Of of) {
  using Sum = decltype(of(problem.seq_len_kv));
  if (problem.seq_lens_kv.empty()) {
    return static_cast<Sum>(problem.batch) * of(problem.seq_len_kv);
  }
  const std::vector<std::int64_t> lengths = kv_lengths(problem);
  return std::transform_reduce(lengths.begin(), lengths.end(), Sum{}, std::plus<>(), of);
}

double pairs_of_sequence(const Problem& problem, std::int64_t keys) {
  const auto sum = [&](std::int64_t more) {
    return clamped_sum(problem.seq_len, keys - problem.seq_len + more, keys);
  };
  const double all = static_cast<double>(problem.seq_len) * static_cast<double>(keys);
  const double ends = problem.causal ? sum(1) : problem.window > 0 ? sum(problem.window) : all;
  return ends - (problem.window > 0 ? sum(1 - problem.window) : 0.0);
}

double all_pairs(const Problem& problem) {
  return static_cast<double>(problem.heads) * static_cast<double>(problem.seq_len) *
         static_cast<double>(total_keys(problem));
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

std::int64_t rows_without_keys(const Problem& problem) {
  const auto of_sequence = [&](std::int64_t keys) {
    const Mask mask = mask_of(problem, keys);
    std::int64_t rows = 0;
    for (std::int64_t row = 0; row < problem.seq_len; ++row) {
      rows += visible_keys(mask, row).size() <= 0 ? 1 : 0;
    }
    return rows;
  };
  return sum_over_sequences(problem, of_sequence) * problem.heads;
}

double visible_pairs(const Problem& problem) {
  return sum_over_sequences(problem,
                            [&](std::int64_t keys) { return pairs_of_sequence(problem, keys); });
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
                      problem.seq_len == problem.seq_len_kv && problem.seq_lens_kv.empty();
  return halved ? all_pairs(problem) * dims_of(problem) : needed_flop(problem);
}

std::int64_t needed_input_bytes(const Problem& problem) {
  const std::int64_t bytes_of_key =
      problem.kv_heads * (problem.d_head + problem.d_head_v) * element_bytes(problem.dtype);
  const auto keys_read = [&](std::int64_t keys) {
    const Mask mask = mask_of(problem, keys);
    return visible_keys(mask, problem.seq_len - 1).end - visible_keys(mask, 0).first;
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
