// Attention on the CPU, row by row, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "elements.hpp"

namespace example {

struct RowPlace {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t row;
};

/// The index of a row's first element.
inline std::int64_t index_of(const fatune_attention::Tensor& tensor, const RowPlace& at) {
  return at.batch * tensor.batch_stride + at.head * tensor.head_stride + at.row * tensor.row_stride;
}

struct KeyRange {
  std::int64_t first;
  std::int64_t end;
};

/// The keys that a query sees.
inline KeyRange visible_keys(const fatune_attention::Problem& problem, std::int64_t row) {
  const std::int64_t position = row + problem.seq_len_kv - problem.seq_len;
  KeyRange keys{0, problem.seq_len_kv};
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
};

/// The inputs of a problem.
struct Inputs {
  Elements q;
  Elements k;
  Elements v;
};

class Reference {
 public:
  Reference(const fatune_attention::Problem& problem, const fatune_attention::Tensors& tensors,
            const Inputs& inputs)
      : problem_(problem), tensors_(tensors), inputs_(inputs) {}

  ReferenceRow row(const RowPlace& at) const {
    const auto width = static_cast<std::size_t>(problem_.d_head_v);
    ReferenceRow result{std::vector<double>(width), std::vector<double>(width)};
    const KeyRange keys = visible_keys(problem_, at.row);
    if (keys.first < keys.end) {
      weigh(at, keys, scores(at, keys), result);
    }
    return result;
  }

 private:
  std::vector<double> scores(const RowPlace& at, const KeyRange& keys) const {
    const double scale = problem_.softmax_scale > 0.0F
                             ? static_cast<double>(problem_.softmax_scale)
                             : 1.0 / std::sqrt(static_cast<double>(problem_.d_head));
    const double* const q = inputs_.q.row(index_of(tensors_.q, at));
    std::vector<double> scores;
    for (std::int64_t key = keys.first; key < keys.end; ++key) {
      const double* const k = inputs_.k.row(index_of(tensors_.k, key_place(at, key)));
      double sum = 0.0;
      for (std::int64_t i = 0; i < problem_.d_head; ++i) {
        sum += q[i] * k[i];
      }
      scores.push_back(scale * sum);
    }
    return scores;
  }

  void weigh(const RowPlace& at, const KeyRange& keys, const std::vector<double>& scores,
             ReferenceRow& result) const {
    const double greatest = *std::max_element(scores.begin(), scores.end());
    double sum = 0.0;
    for (const double score : scores) {
      sum += std::exp(score - greatest);
    }
    result.lse = greatest + std::log(sum);
    std::vector<double> squares(result.o.size());
    for (std::int64_t key = keys.first; key < keys.end; ++key) {
      const double weight =
          std::exp(scores[static_cast<std::size_t>(key - keys.first)] - result.lse);
      const double* const v = inputs_.v.row(index_of(tensors_.v, key_place(at, key)));
      for (std::size_t i = 0; i < squares.size(); ++i) {
        const double term = weight * v[i];
        result.o[i] += term;
        squares[i] += term * term;
      }
    }
    set_tolerance(squares, result);
  }

  /// Half a step of rounding of the output, plus the errors from rounding the weights. These errors
  /// are independent: they add up like the square root of the sum of their squares.
  void set_tolerance(const std::vector<double>& squares, ReferenceRow& result) const {
    const double step = epsilon(problem_.dtype);
    for (std::size_t i = 0; i < squares.size(); ++i) {
      result.tolerance[i] =
          0.75 * step * std::fabs(result.o[i]) + 3.0 * step * std::sqrt(squares[i]) + 1e-6;
    }
  }

  RowPlace key_place(const RowPlace& at, std::int64_t key) const {
    return {at.batch, at.head / (problem_.heads / problem_.kv_heads), key};
  }

  const fatune_attention::Problem& problem_;
  const fatune_attention::Tensors& tensors_;
  const Inputs& inputs_;
};

}  // namespace example
