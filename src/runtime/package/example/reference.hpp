#pragma once

// Attention on the CPU, row by row, in double precision; elements of 16 and 8 bits, and the
// contents of the examples' tensors.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "attention.hpp"
#include "facts.hpp"

namespace example {

using namespace fatune_attention;

/// The next number of a random sequence (splitmix64).
inline std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Returns a random number from `least` to `most`, both included.
inline std::int64_t random_between(std::uint64_t& state, std::int64_t least, std::int64_t most) {
  const auto count = static_cast<std::uint64_t>(most - least + 1);
  return least + static_cast<std::int64_t>(next_random(state) % count);
}

inline double decode_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0.0F;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

inline double decode_fp16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const double fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) {
    return fraction == 0.0 ? sign * HUGE_VAL : std::nan("");
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

inline double decode(DType dtype, std::uint16_t bits) {
  return dtype == DType::bf16 ? decode_bf16(bits) : decode_fp16(bits);
}

/// The distance from 1 to the next number.
inline double epsilon(DType dtype) { return dtype == DType::bf16 ? 0x1p-7 : 0x1p-10; }

/// Encodes a multiple of 1/128 from -1 to 1, times a small power of two. Both types represent it
/// exactly.
inline std::uint16_t encode(DType dtype, double value) {
  if (dtype == DType::bf16) {
    const auto narrow = static_cast<float>(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    return static_cast<std::uint16_t>(bits >> 16);
  }
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);  // from 0.5 to 1
  const int sign = value < 0.0 ? 0x8000 : 0;
  const int mantissa = static_cast<int>(fraction * 2048.0) & 0x3ff;
  return static_cast<std::uint16_t>(value == 0.0 ? 0 : sign | ((exponent + 14) << 10) | mantissa);
}

/// The bits of the fraction of an 8-bit element; a sign and the exponent are the others.
inline int fraction_bits(KvDType dtype) { return dtype == KvDType::e4m3 ? 3 : 2; }
inline int exponent_bias(KvDType dtype) { return (1 << (6 - fraction_bits(dtype))) - 1; }

/// The value of a finite element.
inline double decode(KvDType dtype, std::uint8_t bits) {
  const int width = fraction_bits(dtype);
  const int exponent = (bits & 0x7f) >> width;
  const int fraction = bits & ((1 << width) - 1);
  const double magnitude = std::ldexp(exponent == 0 ? fraction : (1 << width) + fraction,
                                      std::max(exponent, 1) - exponent_bias(dtype) - width);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

/// A random element from 1/8 to 2 in magnitude.
inline std::uint8_t random_element(KvDType dtype, std::uint64_t& seed) {
  const std::int64_t sign = random_between(seed, 0, 1);
  const std::int64_t exponent = exponent_bias(dtype) - random_between(seed, 0, 3);
  const int width = fraction_bits(dtype);
  const std::int64_t fraction = random_between(seed, 0, (1 << width) - 1);
  return static_cast<std::uint8_t>(sign << 7 | exponent << width | fraction);
}

/// The elements of a tensor's memory: random numbers that repeat after a prime number of elements,
/// so that rows differ.
class Elements {
 public:
  static constexpr std::size_t kPeriod = 1'000'003;
  static constexpr std::size_t kMostRow = 1024;

  Elements(DType dtype, double most, std::uint64_t seed) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      const std::uint16_t bits =
          encode(dtype, most * static_cast<double>(random_between(seed, -128, 128)) / 128.0);
      add(bits, decode(dtype, bits));
    }
    repeat();
  }
  Elements(KvDType dtype, std::uint64_t seed) {
    for (std::size_t i = 0; i < kPeriod; ++i) {
      const std::uint8_t bits = random_element(dtype, seed);
      add(bits, decode(dtype, bits));
    }
    repeat();
  }

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  /// A row of at most kMostRow elements that begins at element `index`.
  const double* row(std::int64_t index) const {
    return values_.data() + static_cast<std::size_t>(index) % kPeriod;
  }

 private:
  template <typename Bits>
  void add(Bits bits, double value) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&bits);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof bits);
    values_.push_back(value);
  }
  /// A row may begin at the last element of the period.
  void repeat() {
    for (std::size_t i = 0; i < kMostRow; ++i) {
      values_.push_back(values_[i]);
    }
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<double> values_;
};

struct RowPlace {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t row;
};

/// The index of a row's first element.
inline std::int64_t index_of(const Tensor& tensor, const RowPlace& at) {
  return at.batch * tensor.batch_stride + at.head * tensor.head_stride + at.row * tensor.row_stride;
}

/// The index of the scale of a row of K, and of V.
inline std::int64_t scale_index(const Problem& problem, const RowPlace& at) {
  const std::int64_t rows = detail::extents_of(problem)[1].rows;
  switch (problem.kv_scales) {
    case KvScales::head:
      return at.head;
    case KvScales::token:
      return (at.batch * rows + at.row) * problem.kv_heads + at.head;
    case KvScales::page:
      return at.batch * problem.kv_heads + at.head;
    case KvScales::tensor:
      break;
  }
  return 0;
}

/// The tensors that have scales.
enum class Scaled : int { k, v };

inline float scale_at(Scaled tensor, std::int64_t index) {
  return 0.2F * static_cast<float>(1 + (3 * index + static_cast<int>(tensor)) % 5);
}

/// The scales of a tensor: Tensors::k_scales or v_scales.
inline std::vector<float> scales_of(const Problem& problem, Scaled tensor) {
  const detail::Extents k = detail::extents_of(problem)[1];
  const std::int64_t last = scale_index(problem, {k.batch - 1, k.heads - 1, k.rows - 1});
  std::vector<float> scales;
  for (std::int64_t index = 0; index <= last; ++index) {
    scales.push_back(scale_at(tensor, index));
  }
  return scales;
}

/// How long the sequences of a problem are, and where they are.
struct Sequences {
  std::vector<std::int32_t> queries;      ///< of each sequence
  std::vector<std::int32_t> keys;         ///< of each sequence
  std::vector<std::int32_t> first_query;  ///< Tensors::cu_seqlens_q
  std::vector<std::int32_t> first_key;    ///< Tensors::cu_seqlens_kv
  std::vector<std::int32_t> pages;        ///< Tensors::page_table; empty without pages
};

/// 0, and the sums of the lengths.
inline std::vector<std::int32_t> starts_of(const std::vector<std::int32_t>& lengths) {
  std::vector<std::int32_t> starts(lengths.size() + 1);
  std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);
  return starts;
}

/// A table of the first pages of a pool, in a random order, for sequences of so many keys. What is
/// behind a sequence's last page names no page.
inline std::vector<std::int32_t> page_table(const Problem& problem,
                                            const std::vector<std::int32_t>& keys) {
  constexpr std::int32_t kNoPage = 0x7fa57fa5;
  const std::int64_t width = problem.seq_len_kv / problem.page_size;
  std::vector<std::int32_t> table(static_cast<std::size_t>(problem.batch * width));
  std::iota(table.begin(), table.end(), 0);
  std::uint64_t seed = 5;
  for (std::int64_t i = problem.batch * width - 1; i > 0; --i) {
    std::swap(table[static_cast<std::size_t>(i)],
              table[static_cast<std::size_t>(random_between(seed, 0, i))]);
  }
  for (std::int64_t i = 0; i < problem.batch * width; ++i) {
    if (i % width * problem.page_size >= keys[static_cast<std::size_t>(i / width)]) {
      table[static_cast<std::size_t>(i)] = kNoPage;
    }
  }
  return table;
}

/// If a problem's sequences differ, their numbers of keys are two thirds of seq_len_kv, all of it,
/// none, one, and again, beginning with the `first` of these. Packed ones have seq_len queries,
/// one, half as many, none, and again: four sequences, or a multiple, have the same sum with each
/// `first`.
inline Sequences sequences_of(const Problem& problem, std::size_t first = 0) {
  const auto most_queries = static_cast<std::int32_t>(problem.seq_len);
  const auto most = static_cast<std::int32_t>(problem.seq_len_kv);
  const std::int32_t some_queries[] = {most_queries, 1, (most_queries + 1) / 2, 0};
  const std::int32_t some_keys[] = {(2 * most + 2) / 3, most, 0, 1};
  Sequences made;
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.batch); ++i) {
    const bool differ = problem.has_seq_lens_kv || problem.is_packed;
    made.queries.push_back(problem.is_packed ? some_queries[(i + first) % 4] : most_queries);
    made.keys.push_back(differ ? some_keys[(i + first) % 4] : most);
  }
  made.first_query = starts_of(made.queries);
  made.first_key = starts_of(made.keys);
  if (problem.page_size > 0) {
    made.pages = page_table(problem, made.keys);
  }
  return made;
}

/// The sinks of the query heads: some outweigh the keys, others hardly count.
inline std::vector<float> sinks_of(const Problem& problem) {
  std::vector<float> sinks;
  for (std::int64_t head = 0; head < problem.heads; ++head) {
    sinks.push_back(static_cast<float>(5 * head % 13 - 3));
  }
  return sinks;
}

struct KeyRange {
  std::int64_t first;
  std::int64_t end;
};

/// The keys that a query of a sequence with so many queries and `length` keys sees.
inline KeyRange visible_keys(const Problem& problem, std::int64_t queries, std::int64_t length,
                             std::int64_t row) {
  const std::int64_t position = row + length - queries;
  KeyRange keys{0, length};
  if (problem.window > 0) {
    keys = {std::max<std::int64_t>(0, position - problem.window + 1),
            std::min(keys.end, position + problem.window)};
  }
  if (problem.causal) {
    keys.end = std::min(keys.end, position + 1);
  }
  return keys;
}

/// A row of the output.
struct ReferenceRow {
  std::vector<double> o;
  /// How far a correct kernel may deviate: it rounds its weights and its output to 16 bits.
  std::vector<double> tolerance;
  double lse = -std::numeric_limits<double>::infinity();
  double lse_tolerance = 1e-3;
};

/// The inputs of a problem.
struct Inputs {
  Elements q;
  Elements k;
  Elements v;
};

/// What the constructor is given must outlive it.
class Reference {
 public:
  Reference(const Problem& problem, const Tensors& tensors, const Inputs& inputs,
            const Sequences& sequences)
      : problem_(problem), tensors_(tensors), inputs_(inputs), sequences_(sequences) {}

  /// `at`: in the tensors Q and O.
  ReferenceRow row(const RowPlace& at) const {
    const auto width = static_cast<std::size_t>(problem_.d_head_v);
    ReferenceRow result{std::vector<double>(width), std::vector<double>(width)};
    const std::size_t sequence = sequence_at(at);
    const std::int64_t first = problem_.is_packed ? sequences_.first_query[sequence] : 0;
    const KeyRange keys = visible_keys(problem_, sequences_.queries[sequence],
                                       sequences_.keys[sequence], at.row - first);
    if (keys.first < keys.end || problem_.has_sinks) {
      weigh(at, keys, scores(at, keys), result);
    }
    return result;
  }

 private:
  std::size_t sequence_at(const RowPlace& at) const {
    const auto& starts = sequences_.first_query;
    return static_cast<std::size_t>(problem_.is_packed
                                        ? std::upper_bound(starts.begin(), starts.end(), at.row) -
                                              starts.begin() - 1
                                        : at.batch);
  }

  std::vector<double> scores(const RowPlace& at, const KeyRange& keys) const {
    const double scale = problem_.softmax_scale > 0.0F
                             ? static_cast<double>(problem_.softmax_scale)
                             : 1.0 / std::sqrt(static_cast<double>(problem_.d_head));
    const double* const q = inputs_.q.row(index_of(tensors_.q, at));
    std::vector<double> scores;
    for (std::int64_t key = keys.first; key < keys.end; ++key) {
      const RowPlace place = key_place(at, key);
      const double* const k = inputs_.k.row(index_of(tensors_.k, place));
      double sum = 0.0;
      for (std::int64_t i = 0; i < problem_.d_head; ++i) {
        sum += q[i] * k[i];
      }
      scores.push_back(capped(scale * scale_of(Scaled::k, place) * sum));
    }
    return scores;
  }

  /// 1 without scales.
  double scale_of(Scaled tensor, const RowPlace& place) const {
    return detail::has_scales(problem_)
               ? static_cast<double>(scale_at(tensor, scale_index(problem_, place)))
               : 1.0;
  }

  double capped(double score) const {
    const double cap = problem_.softcap;
    return cap > 0.0 ? cap * std::tanh(score / cap) : score;
  }

  /// How wrong a capped score may be: kernels have tanh from an approximation.
  double tanh_error(const std::vector<double>& scores) const {
    double greatest = 0.0;
    for (const double score : scores) {
      greatest = std::max(greatest, std::fabs(score));
    }
    return problem_.softcap > 0.0F ? 0x1p-11 * greatest : 0.0;
  }

  void weigh(const RowPlace& at, const KeyRange& keys, const std::vector<double>& scores,
             ReferenceRow& result) const {
    const double none = -std::numeric_limits<double>::infinity();
    const double sink =
        problem_.has_sinks ? double{sinks_of(problem_)[static_cast<std::size_t>(at.head)]} : none;
    const double greatest = std::accumulate(scores.begin(), scores.end(), sink,
                                            [](double a, double b) { return std::max(a, b); });
    double sum = std::exp(sink - greatest);
    for (const double score : scores) {
      sum += std::exp(score - greatest);
    }
    result.lse = greatest + std::log(sum);
    std::vector<double> squares(result.o.size());
    for (std::int64_t key = keys.first; key < keys.end; ++key) {
      const RowPlace place = key_place(at, key);
      const double weight =
          std::exp(scores[static_cast<std::size_t>(key - keys.first)] - result.lse) *
          scale_of(Scaled::v, place);
      const double* const v = inputs_.v.row(index_of(tensors_.v, place));
      for (std::size_t i = 0; i < squares.size(); ++i) {
        const double term = weight * v[i];
        result.o[i] += term;
        squares[i] += term * term;
      }
    }
    set_tolerance(squares, tanh_error(scores), result);
  }

  /// Half a step of rounding of the output, plus the errors from rounding the weights. These errors
  /// are independent: they add up like the square root of the sum of their squares.
  void set_tolerance(const std::vector<double>& squares, double score_error,
                     ReferenceRow& result) const {
    const double step = epsilon(problem_.dtype);
    result.lse_tolerance += score_error;
    for (std::size_t i = 0; i < squares.size(); ++i) {
      result.tolerance[i] = 0.75 * step * std::fabs(result.o[i]) +
                            (3.0 * step + 2.0 * score_error) * std::sqrt(squares[i]) + 1e-6;
    }
  }

  RowPlace key_place(const RowPlace& at, std::int64_t key) const {
    const std::int64_t head = at.head / (problem_.heads / problem_.kv_heads);
    const std::size_t sequence = sequence_at(at);
    if (problem_.page_size > 0) {
      const std::int64_t width = problem_.seq_len_kv / problem_.page_size;
      const auto entry = static_cast<std::int64_t>(sequence) * width + key / problem_.page_size;
      return {sequences_.pages[static_cast<std::size_t>(entry)], head, key % problem_.page_size};
    }
    return problem_.is_packed ? RowPlace{0, head, sequences_.first_key[sequence] + key}
                              : RowPlace{at.batch, head, key};
  }

  const Problem& problem_;
  const Tensors& tensors_;
  const Inputs& inputs_;
  const Sequences& sequences_;
};

}  // namespace example
