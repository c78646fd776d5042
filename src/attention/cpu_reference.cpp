#include "attention/cpu_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fatune {
namespace {

// Of an IEEE-like 16-bit format: bits of the fraction, exponent of the smallest normal number, and
// the largest exponent.
struct ElementFormat {
  int fraction_bits;
  int min_exponent;
  int max_exponent;
};

constexpr ElementFormat kFp16{10, -14, 15};
constexpr ElementFormat kBf16{7, -126, 127};

constexpr ElementFormat format_of(DType dtype) { return dtype == DType::fp16 ? kFp16 : kBf16; }

std::uint16_t to_bits(bool negative, int biased_exponent, std::int64_t fraction,
                      int fraction_bits) {
  return static_cast<std::uint16_t>((negative ? 0x8000 : 0) + (biased_exponent << fraction_bits) +
                                    fraction);
}

enum class Rounding { none, to_elements };

// One query row against the keys it sees.
class RowAttention {
 public:
  RowAttention(const Problem& problem, std::span<const double> q, std::span<const double> k,
               std::span<const double> v, Rounding rounding)
      : problem_(problem), q_(q), k_(k), v_(v), rounding_(rounding) {}

  void compute(std::int64_t batch, std::int64_t head, std::int64_t row, std::span<double> out) {
    const std::int64_t keys = problem_.causal ? row + 1 : problem_.seq_len;
    weights_.resize(static_cast<std::size_t>(keys));
    score(batch, head, row);
    softmax();
    std::fill(out.begin(), out.end(), 0.0);
    for (std::int64_t key = 0; key < keys; ++key) {
      const std::span<const double> value = v_.subspan(offset(batch, key, head), out.size());
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] += weights_[static_cast<std::size_t>(key)] * value[i];
      }
    }
    std::transform(out.begin(), out.end(), out.begin(), [this](double o) { return rounded(o); });
  }

  [[nodiscard]] std::size_t offset(std::int64_t batch, std::int64_t row, std::int64_t head) const {
    return static_cast<std::size_t>(((batch * problem_.seq_len + row) * problem_.heads + head) *
                                    problem_.d_head);
  }

 private:
  [[nodiscard]] double rounded(double value) const {
    return rounding_ == Rounding::none
               ? value
               : element_value(round_to_element(value, problem_.dtype), problem_.dtype);
  }

  void score(std::int64_t batch, std::int64_t head, std::int64_t row) {
    const auto d = static_cast<std::size_t>(problem_.d_head);
    const double scale = 1 / std::sqrt(static_cast<double>(problem_.d_head));
    const std::size_t query = offset(batch, row, head);
    for (std::size_t key = 0; key < weights_.size(); ++key) {
      const std::size_t from = offset(batch, static_cast<std::int64_t>(key), head);
      double dot = 0.0;
      for (std::size_t i = 0; i < d; ++i) {
        dot += q_[query + i] * k_[from + i];
      }
      weights_[key] = rounded(scale * dot);
    }
  }

  void softmax() {
    const double greatest = *std::max_element(weights_.begin(), weights_.end());
    double sum = 0.0;
    for (double& weight : weights_) {
      weight = std::exp(weight - greatest);
      sum += weight;
    }
    for (double& weight : weights_) {
      weight = rounded(weight / sum);
    }
  }

  const Problem& problem_;
  std::span<const double> q_, k_, v_;
  Rounding rounding_;
  std::vector<double> weights_;
};

std::vector<double> attention(const Problem& problem, RowAttention& rows) {
  std::vector<double> out(static_cast<std::size_t>(tensor_elements(problem)));
  for (std::int64_t batch = 0; batch < problem.batch; ++batch) {
    for (std::int64_t head = 0; head < problem.heads; ++head) {
      for (std::int64_t row = 0; row < problem.seq_len; ++row) {
        rows.compute(batch, head, row,
                     std::span(out).subspan(rows.offset(batch, row, head),
                                            static_cast<std::size_t>(problem.d_head)));
      }
    }
  }
  return out;
}

}  // namespace

double element_value(std::uint16_t bits, DType dtype) {
  const ElementFormat format = format_of(dtype);
  const int exponent_mask = (1 << (15 - format.fraction_bits)) - 1;
  const int exponent = (bits & 0x7fff) >> format.fraction_bits;
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == exponent_mask) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const int hidden_bit = exponent == 0 ? 0 : 1 << format.fraction_bits;
  const int power = std::max(exponent, 1) - 1 + format.min_exponent - format.fraction_bits;
  return sign * std::ldexp(hidden_bit + fraction, power);
}

std::uint16_t round_to_element(double value, DType dtype) {
  const ElementFormat format = format_of(dtype);
  const bool negative = std::signbit(value);
  const int infinite_exponent = format.max_exponent - format.min_exponent + 2;
  if (std::isnan(value)) {
    return 0x7fff;
  }
  if (value == 0.0 || std::isinf(value)) {
    return to_bits(negative, value == 0.0 ? 0 : infinite_exponent, 0, format.fraction_bits);
  }
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  // In units of the last place; nearbyint rounds ties to even, and may carry into the exponent.
  const double units = std::nearbyint(std::ldexp(std::abs(value), format.fraction_bits - exponent));
  if (exponent > format.max_exponent ||
      std::ldexp(units, exponent - format.fraction_bits) >= std::ldexp(2.0, format.max_exponent)) {
    return to_bits(negative, infinite_exponent, 0, format.fraction_bits);
  }
  // Exponent field and fraction are one number: adding the units without the hidden bit to the
  // exponent below carries by itself, and leaves field 0 to subnormal numbers.
  return to_bits(negative, exponent - format.min_exponent, static_cast<std::int64_t>(units),
                 format.fraction_bits);
}

std::vector<double> cpu_attention(const Problem& problem, std::span<const double> q,
                                  std::span<const double> k, std::span<const double> v) {
  RowAttention rows(problem, q, k, v, Rounding::none);
  return attention(problem, rows);
}

std::vector<double> cpu_rounded_attention(const Problem& problem, std::span<const double> q,
                                          std::span<const double> k, std::span<const double> v) {
  RowAttention rows(problem, q, k, v, Rounding::to_elements);
  return attention(problem, rows);
}

std::vector<double> element_values(std::span<const std::uint16_t> elements, DType dtype) {
  std::vector<double> values(elements.size());
  std::transform(elements.begin(), elements.end(), values.begin(),
                 [dtype](std::uint16_t bits) { return element_value(bits, dtype); });
  return values;
}

}  // namespace fatune
