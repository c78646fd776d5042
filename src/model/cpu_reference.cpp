#include "model/cpu_reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/ranges.hpp"
#include "model/flop.hpp"
#include "model/kv_lengths.hpp"
#include "model/kv_pages.hpp"
#include "reference/probability_units.h"

namespace fatune {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Counts one value. Both arguments are logarithms.
void count_value(double value, double reference, ErrorStats& stats) {
  const bool no_logarithm = !(value < -kNone);
  stats.not_finite += no_logarithm || (value == kNone && reference != kNone) ? 1 : 0;
  if (no_logarithm || value == kNone || reference == kNone) {
    stats.mismatched += value == reference ? 0 : 1;
    return;
  }
  const double error = std::abs(value - reference);
  stats.max_abs_error = std::max(stats.max_abs_error, error);
  stats.mismatched += error <= stats.limit ? 0 : 1;
}

// An IEEE-like format: bits of the fraction, exponent of the smallest normal number, the largest
// exponent, the bit of the sign, and the least magnitude that is no number.
struct ElementFormat {
  int fraction_bits;
  int min_exponent;
  int max_exponent;
  int sign_bit = 0x8000;
  int least_special = (max_exponent - min_exponent + 2) << fraction_bits;  // infinity
};

constexpr ElementFormat kFp16{10, -14, 15};
constexpr ElementFormat kBf16{7, -126, 127};
constexpr ElementFormat kE5m2{2, -14, 15, 0x80};
// It has numbers where other formats have infinity, and one NaN.
constexpr ElementFormat kE4m3{3, -6, 8, 0x80, 0x7f};

constexpr ElementFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return kFp16;
    case DType::bf16:
      return kBf16;
    case DType::e5m2:
      return kE5m2;
    case DType::e4m3:
      break;
  }
  return kE4m3;
}

// These functions read and write a double's exponent field directly. std::ldexp and std::ilogb take
// several times as long, and a reference rounds millions of numbers.
constexpr int kDoubleFractionBits = std::numeric_limits<double>::digits - 1;
constexpr int kDoubleExponentBias = std::numeric_limits<double>::max_exponent - 1;

// Returns 2^power, which must be a normal number.
constexpr double power_of_two(int power) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(power + kDoubleExponentBias)
                               << kDoubleFractionBits);
}

// The exponent of a normal number. Any smaller number gives less than every normal exponent.
constexpr int exponent_of(double value) {
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(value) << 1 >> 1;
  return static_cast<int>(magnitude >> kDoubleFractionBits) - kDoubleExponentBias;
}

// The significand of a normal number > 0, from 1 to below 2.
constexpr double significand_of(double value) { return value / power_of_two(exponent_of(value)); }

enum class Rounding { none, to_elements };

double rounded_to(DType dtype, double value) {
  return element_value(round_to_element(value, dtype), dtype);
}

// A row of Q and O, where tensor_shape() has it.
struct RowAt {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t row;
};

// Scores of one query row against the keys it sees, and the softmax over them.
class RowScores {
 public:
  RowScores(const Problem& problem, std::span<const double> q, std::span<const double> k,
            Rounding rounding)
      : problem_(problem),
        q_(q),
        k_(k),
        q_shape_(tensor_shape(problem, TensorRole::q)),
        k_rows_(problem, TensorRole::k),
        sequences_(sequences_of(problem)),
        rounding_(rounding) {}

  // Of 8 bits, only exponentials and the result are rounded.
  [[nodiscard]] double rounded(double value) const {
    return rounding_ == Rounding::none || has_eight_bits(problem_.dtype)
               ? value
               : rounded_to(problem_.dtype, value);
  }

  // Fills scores() and returns the keys that they belong to, as rows of K.
  KeyRange compute(const RowAt& at) {
    const KeyRange keys = visible_rows(problem_, sequence_at(sequences_, at.batch, at.row), at.row);
    scores_.resize(static_cast<std::size_t>(keys.size()));
    const double* const query = q_.data() + q_shape_.row_offset(at.batch, at.row, at.head);
    for (std::int64_t key = keys.first; key < keys.end; ++key) {
      const double* const from =
          k_.data() + k_rows_.offset(at.batch, key, at.head / group_size(problem_));
      const double dot = std::inner_product(query, query + problem_.d_head, from, 0.0);
      scores_[static_cast<std::size_t>(key - keys.first)] =
          capped(rounded(problem_.softmax_scale * dot));
    }
    return keys;
  }
  [[nodiscard]] const std::vector<double>& scores() const { return scores_; }

 private:
  [[nodiscard]] double capped(double score) const {
    const double cap = problem_.softcap;
    return cap > 0.0 ? rounded(cap * std::tanh(score / cap)) : score;
  }

  const Problem& problem_;
  std::span<const double> q_, k_;
  TensorShape q_shape_;
  KeyRows k_rows_;
  std::vector<Sequence> sequences_;
  Rounding rounding_;
  std::vector<double> scores_;
};

struct SoftmaxSum {
  double greatest;
  double sum;  // the sum of exp(score - greatest)
};

// `sink`: minus infinity if there is none. At least one of both is finite.
SoftmaxSum softmax_sum(const std::vector<double>& scores, double sink) {
  const double greatest = scores.empty() ? sink : std::max(sink, std::ranges::max(scores));
  double sum = std::exp(sink - greatest);
  for (const double score : scores) {
    sum += std::exp(score - greatest);
  }
  return {greatest, sum};
}

double sink_of(std::span<const float> sinks, std::int64_t head) {
  return sinks.empty() ? kNone : double{sinks[static_cast<std::size_t>(head)]};
}

template <typename Use>
void for_each_row(const Problem& problem, Use use) {
  const TensorShape shape = tensor_shape(problem, TensorRole::o);
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      for (std::int64_t row = 0; row < shape.rows; ++row) {
        use(RowAt{batch, head, row});
      }
    }
  }
}

// O += weight * V, where `v` is the row of V.
void add_scaled(std::span<double> out, double weight, const double* v) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] += weight * v[i];
  }
}

// What V of a key is multiplied by, for one way of rounding.
class Weights {
 public:
  // v_scales: those of cpu_rounded_attention(); empty: there are none
  Weights(const Problem& problem, Rounding rounding, std::span<const float> v_scales)
      : problem_(problem),
        is_rounded_(rounding != Rounding::none),
        has_eight_bits_(is_rounded_ && has_eight_bits(problem.dtype)),
        v_scales_(v_scales) {}

  [[nodiscard]] SoftmaxSum sum_of(const std::vector<double>& scores, double sink) const {
    if (!has_eight_bits_) {
      return softmax_sum(scores, sink);
    }
    SoftmaxSum rounded{std::ceil(std::ranges::max(scores) * kLog2OfE) / kLog2OfE, 0.0};
    rounded.sum = std::exp(sink - rounded.greatest);  // infinity if it far outweighs the keys
    for (const double score : scores) {
      rounded.sum += rounded_exponential(score, rounded);
    }
    return rounded;
  }
  // v_row: where the key's row of V begins
  [[nodiscard]] double of(double score, const SoftmaxSum& softmax, std::int64_t v_row) const {
    if (has_eight_bits_) {
      return rounded_exponential(score, softmax) / softmax.sum;
    }
    const double probability = std::exp(score - softmax.greatest) / softmax.sum;
    if (!is_rounded_) {
      return probability;
    }
    const double once = rounded_to(problem_.dtype, probability);
    if (v_scales_.empty()) {
      return once;
    }
    const double significand =
        significand_of(double{v_scales_[static_cast<std::size_t>(v_row / problem_.d_head_v)]});
    return rounded_to(problem_.dtype, once * significand) / significand;
  }
  [[nodiscard]] double result(double o) const {
    return is_rounded_ ? rounded_to(output_dtype(problem_), o) : o;
  }

 private:
  // An exponential of 8 bits.
  [[nodiscard]] double rounded_exponential(double score, const SoftmaxSum& softmax) const {
    constexpr double kUnits = kProbabilityUnits;
    const double exponential = std::exp(score - softmax.greatest);
    return rounded_to(problem_.dtype, kUnits * exponential) / kUnits;
  }

  const Problem& problem_;
  bool is_rounded_;
  bool has_eight_bits_;
  std::span<const float> v_scales_;
};

// v_scales: those of cpu_rounded_attention(); empty: there are none
std::vector<double> attention(const Problem& problem, std::span<const double> q,
                              std::span<const double> k, std::span<const double> v,
                              std::span<const float> sinks, Rounding rounding,
                              std::span<const float> v_scales = {}) {
  const KeyRows v_rows(problem, TensorRole::v);
  const TensorShape o_shape = tensor_shape(problem, TensorRole::o);
  RowScores row(problem, q, k, rounding);
  const Weights weights(problem, rounding, v_scales);
  std::vector<double> all(static_cast<std::size_t>(o_shape.elements()));
  for_each_row(problem, [&](const RowAt& at) {
    const KeyRange keys = row.compute(at);
    if (keys.size() == 0) {
      return;
    }
    const SoftmaxSum softmax = weights.sum_of(row.scores(), sink_of(sinks, at.head));
    const auto first = static_cast<std::size_t>(o_shape.row_offset(at.batch, at.row, at.head));
    const std::span out = std::span(all).subspan(first, static_cast<std::size_t>(problem.d_head_v));
    for (std::int64_t key = keys.first; key < keys.end; ++key) {
      const double score = row.scores()[static_cast<std::size_t>(key - keys.first)];
      const std::int64_t v_row = v_rows.offset(at.batch, key, at.head / group_size(problem));
      add_scaled(out, weights.of(score, softmax, v_row), v.data() + v_row);
    }
    std::ranges::transform(out, out.begin(), [&](double o) { return weights.result(o); });
  });
  return all;
}

}  // namespace

double RowStatistics::of(RowValue what) const {
  return what == RowValue::maximum ? maximum
         : what == RowValue::sum   ? log_of_sum
                                   : maximum + log_of_sum;
}

ErrorStats compare_row_values(const std::string& output, RowValue what,
                              std::span<const float> values,
                              std::span<const RowStatistics> reference, double limit) {
  ErrorStats stats;
  stats.output = output;
  stats.limit = limit;
  stats.elements = static_cast<std::int64_t>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    count_value(what == RowValue::sum ? std::log(value) : value, reference[i].of(what), stats);
  }
  return stats;
}

double greatest_norm(std::span<const double> elements, std::int64_t columns) {
  double greatest = 0.0;
  for (std::size_t i = 0; i < elements.size(); i += static_cast<std::size_t>(columns)) {
    const auto row = elements.subspan(i, static_cast<std::size_t>(columns));
    greatest = std::max(greatest, std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
  }
  return std::sqrt(greatest);
}

double element_value(std::uint16_t bits, DType dtype) {
  const ElementFormat format = format_of(dtype);
  const int magnitude = bits & (format.sign_bit - 1);
  const double sign = (bits & format.sign_bit) != 0 ? -1.0 : 1.0;
  if (magnitude >= format.least_special) {
    return dtype != DType::e4m3 && magnitude == format.least_special
               ? sign * std::numeric_limits<double>::infinity()
               : std::numeric_limits<double>::quiet_NaN();
  }
  const int exponent = magnitude >> format.fraction_bits;
  const int fraction = magnitude & ((1 << format.fraction_bits) - 1);
  const int hidden_bit = exponent == 0 ? 0 : 1 << format.fraction_bits;
  const int power = std::max(exponent, 1) - 1 + format.min_exponent - format.fraction_bits;
  return sign * (hidden_bit + fraction) * power_of_two(power);
}

std::uint16_t round_to_element(double value, DType dtype) {
  const ElementFormat format = format_of(dtype);
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(format.sign_bit - 1);
  }
  const int sign = std::signbit(value) ? format.sign_bit : 0;
  // What is beyond the greatest number.
  const int beyond = has_eight_bits(dtype) ? format.least_special - 1 : format.least_special;
  if (value == 0.0 || std::isinf(value)) {
    return static_cast<std::uint16_t>(sign + (value == 0.0 ? 0 : beyond));
  }
  const int exponent = std::max(exponent_of(value), format.min_exponent);
  if (exponent > format.max_exponent) {
    return static_cast<std::uint16_t>(sign + beyond);
  }
  // The value in units of the last place. nearbyint rounds ties to even, and may carry into the
  // exponent.
  const double units =
      std::nearbyint(std::abs(value) * power_of_two(format.fraction_bits - exponent));
  // The exponent field and the fraction form one number. The units include the hidden bit, so they
  // are added to an exponent field that is one less. A carry then needs no special case, and
  // subnormal numbers get field 0.
  const int magnitude =
      ((exponent - format.min_exponent) << format.fraction_bits) + static_cast<int>(units);
  return static_cast<std::uint16_t>(sign + std::min(magnitude, beyond));
}

std::vector<double> cpu_attention(const Problem& problem, std::span<const double> q,
                                  std::span<const double> k, std::span<const double> v,
                                  std::span<const float> sinks) {
  return attention(problem, q, k, v, sinks, Rounding::none);
}

bool keys_have_scales(const Problem& problem) {
  return has_scales(problem) &&
         (problem.kv_scales == KvScales::token || problem.kv_scales == KvScales::page);
}

std::vector<double> cpu_rounded_attention(const Problem& problem, std::span<const double> q,
                                          std::span<const double> k, std::span<const double> v,
                                          std::span<const float> sinks,
                                          std::span<const float> v_scales) {
  return attention(problem, q, k, v, sinks, Rounding::to_elements, v_scales);
}

std::vector<RowStatistics> cpu_row_statistics(const Problem& problem, std::span<const double> q,
                                              std::span<const double> k,
                                              std::span<const float> sinks) {
  RowScores row(problem, q, k, Rounding::none);
  std::vector<RowStatistics> all;
  for_each_row(problem, [&](const RowAt& at) {
    const double sink = sink_of(sinks, at.head);
    if (row.compute(at).size() == 0 && sink == kNone) {
      all.push_back({kNone, kNone});
      return;
    }
    const auto [greatest, sum] = softmax_sum(row.scores(), sink);
    all.push_back({greatest, std::log(sum)});
  });
  return all;
}

std::vector<double> cpu_log_sum_exp(const Problem& problem, std::span<const double> q,
                                    std::span<const double> k, std::span<const float> sinks) {
  return mapped(cpu_row_statistics(problem, q, k, sinks),
                [](const RowStatistics& row) { return row.of(RowValue::log_sum_exp); });
}

std::vector<double> element_values(std::span<const std::uint16_t> elements, DType dtype) {
  return mapped(elements, [dtype](std::uint16_t bits) { return element_value(bits, dtype); });
}

}  // namespace fatune
