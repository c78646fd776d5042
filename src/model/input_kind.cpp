#include "model/input_kind.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"
#include "model/cpu_reference.hpp"
#include "reference/extreme_inputs.h"
#include "reference/outlier_inputs.h"

namespace fatune {

InputKind parse_input_kind(std::string_view text) {
  if (text == "random") {
    return InputKind::normal;
  }
  const auto* const found = std::ranges::find(kInputKindTexts, text, &InputKindText::name);
  if (found == kInputKindTexts.end()) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a kind of input", text), "--init",
                "choose one of " + joined(kInputKindTexts, ", ", &InputKindText::name));
  }
  return found->kind;
}

namespace {

using Elements = std::vector<std::uint16_t>;

// These are the values of the reference kernels' large_logits and dominating_key
// (kernels/reference).
constexpr double kLargeLogitFactor = 7.0;
constexpr double kDominatingLogit = 16.0;

class Filler {
 public:
  Filler(const HeadProblem& head, std::int64_t group, std::uint64_t seed)
      : head_(head), group_(group), random_(seed) {}

  GroupInputs fill(InputKind kind) {
    switch (kind) {
      case InputKind::normal:
        return made(normal(), normal(), normal());
      case InputKind::large_logits:
        return made([this](Place) { return kLargeLogitFactor * normal_(random_); }, normal(),
                    normal());
      case InputKind::range:
        return alike([](Place at) { return 2.0 - 2.0 * at.share(); });
      case InputKind::identity:
        return alike([](Place at) { return at.column == at.row % at.columns ? 1.0 : 0.0; });
      case InputKind::constant:
        return alike([](Place) { return 1.0; });
      case InputKind::dominating_key:
        return dominating_key();
      case InputKind::extreme_scores:
        return extreme_scores();
      case InputKind::large_values:
        return large_values();
      case InputKind::outliers:
        return outliers();
      case InputKind::onehot:
        break;
    }
    return onehot();
  }

 private:
  // The place of an element in a tensor of `rows` and `columns`.
  struct Place {
    std::int64_t row, column, rows, columns;

    [[nodiscard]] double share() const {
      return static_cast<double>(row * columns + column) / static_cast<double>(rows * columns);
    }
  };

  template <typename Value>
  Elements make(std::int64_t rows, std::int64_t columns, Value value) const {
    Elements bits;
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        bits.push_back(round_to_element(value(Place{row, column, rows, columns}), head_.dtype));
      }
    }
    return bits;
  }

  // The queries of the group's other heads are made last, so that the group's size does not change
  // the inputs of the first head.
  template <typename OfQ, typename OfK, typename OfV>
  GroupInputs made(OfQ of_q, OfK of_k, OfV of_v) const {
    const auto queries = [&] { return make(head_.seq_len, head_.d_head, of_q); };
    GroupInputs inputs;
    inputs.q.push_back(queries());
    inputs.k = make(head_.seq_len_kv, head_.d_head, of_k);
    inputs.v =
        head_.latent ? first_columns(inputs.k) : make(head_.seq_len_kv, head_.d_head_v, of_v);
    for (std::int64_t i = 1; i < group_; ++i) {
      inputs.q.push_back(queries());
    }
    return inputs;
  }

  // V of a latent problem.
  [[nodiscard]] Elements first_columns(const Elements& keys) const {
    Elements values;
    for (auto row = keys.begin(); row != keys.end(); row += head_.d_head) {
      values.insert(values.end(), row, row + head_.d_head_v);
    }
    return values;
  }

  template <typename Value>
  GroupInputs alike(Value value) const {
    return made(value, value, value);
  }

  struct Normal {
    Filler* filler;
    double operator()(Place) const { return filler->normal_(filler->random_); }
  };
  Normal normal() { return {this}; }

  static auto one_at(std::int64_t row, std::int64_t column) {
    return [=](Place at) { return at.row == row && at.column == column ? 1.0 : 0.0; };
  }

  // Queries are normal plus a direction of +-1, so their product with the direction is about
  // d_head. The logit, scaled by 1 / sqrt(d_head), is then the key's length times sqrt(d_head).
  GroupInputs dominating_key() {
    const double length = kDominatingLogit / std::sqrt(static_cast<double>(head_.d_head));
    const std::int64_t key = below(head_.seq_len_kv);
    const std::vector<double> direction = signs();
    const auto along = [&](Place at) { return direction[static_cast<std::size_t>(at.column)]; };
    return made([&](Place at) { return normal_(random_) + along(at); },
                [&](Place at) { return at.row == key ? length * along(at) : normal_(random_); },
                normal());
  }

  GroupInputs extreme_scores() {
    const double length =
        static_cast<double>(kExtremeScore) / std::sqrt(static_cast<double>(head_.d_head));
    const auto between = static_cast<int>(below(head_.seq_len_kv));
    const std::vector<double> direction = signs();
    // `towards`: extreme_query or extreme_key.
    const auto along = [&](Place at, auto towards) {
      return direction[static_cast<std::size_t>(at.column)] *
             static_cast<double>(towards(static_cast<int>(at.row), static_cast<int>(at.rows),
                                         static_cast<int>(at.column)));
    };
    const auto key = [&](Place at) {
      const bool extreme =
          is_extreme_key(static_cast<int>(at.row), static_cast<int>(at.rows), between);
      return extreme ? length * along(at, extreme_key) : normal_(random_);
    };
    return made([&](Place at) { return along(at, extreme_query); }, key, normal());
  }

  GroupInputs large_values() {
    const auto value = [this](Place) {
      return static_cast<double>(
          large_value(static_cast<float>(normal_(random_)), head_.dtype == DType::bf16));
    };
    random_.discard(1);  // so that Q and K differ from those of normal inputs
    return made(normal(), normal(), value);
  }

  GroupInputs outliers() {
    const auto of = [this](TensorRole role) {
      return [this, role](Place at) {
        const auto column = static_cast<int>(at.column);
        return normal_(random_) * double{outlier_factor(static_cast<int>(role), column)};
      };
    };
    return made(of(TensorRole::q), of(TensorRole::k), of(TensorRole::v));
  }

  std::vector<double> signs() {
    std::vector<double> direction;
    for (std::int64_t i = 0; i < head_.d_head; ++i) {
      direction.push_back(below(2) == 0 ? 1.0 : -1.0);
    }
    return direction;
  }

  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }

  // The query is at the key's position or after it, so it sees the key even when causal.
  GroupInputs onehot() {
    const std::int64_t key = below(head_.seq_len_kv);
    const std::int64_t behind = head_.seq_len_kv - head_.seq_len;
    const std::int64_t least = std::max<std::int64_t>(key - behind, 0);
    const std::int64_t query = least + below(head_.seq_len - least);
    const std::int64_t column = below(head_.d_head);
    return made(one_at(query, column), one_at(key, column), one_at(key, below(head_.d_head_v)));
  }

  const HeadProblem& head_;
  std::int64_t group_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace

std::vector<double> column_units(const Problem& problem, InputKind kind) {
  std::vector<double> units;
  for (int column = 0; kind == InputKind::outliers && column < problem.d_head_v; ++column) {
    units.push_back(double{outlier_unit(column)});
  }
  return units;
}

std::vector<float> make_sinks(const Problem& problem, InputKind kind) {
  constexpr std::array kUsual{5.0F, -4.0F, 8.0F, 0.0F, 10.0F, 3.0F, 7.0F, 14.0F};
  constexpr std::array kExtreme{250.0F, -250.0F, 0.0F, 1e4F, 199.0F, -1e4F, 100.0F, 201.0F};
  std::vector<float> sinks;
  for (std::int64_t head = 0; problem.sinks && head < problem.heads; ++head) {
    const auto& of = kind == InputKind::extreme_scores ? kExtreme : kUsual;
    sinks.push_back(of.at(static_cast<std::size_t>(head) % of.size()));
  }
  return sinks;
}

namespace {

/// About the greatest magnitude of an input.
float greatest_input(const Problem& problem, TensorRole role, InputKind kind) {
  constexpr float kOfNormals = 6.0F;
  if (kind == InputKind::large_values && role == TensorRole::v) {
    return greatest_large_value(output_dtype(problem) == DType::bf16);
  }
  if (kind == InputKind::extreme_scores && role == TensorRole::k) {
    return 2.0F * kExtremeScore * usual_softmax_scale(problem.d_head);
  }
  return kOfNormals;
}

}  // namespace

std::vector<float> make_scales(const Problem& problem, TensorRole role, InputKind kind) {
  // Their number divides no step of keys, so that those of two steps differ too.
  constexpr std::array kFactors{1.0F, 0.6F, 37.0F, 4000.0F, 1.7F, 0.8F, 250.0F, 3.1F, 0.9F};
  const std::size_t first = role == TensorRole::k ? 0 : role == TensorRole::v ? 4 : 7;
  std::vector<float> scales(static_cast<std::size_t>(scale_shape(problem, role).elements()),
                            kLeastFittedScale);
  if (has_fitted_scales(kind)) {
    return scales;
  }
  const float usual = greatest_input(problem, role, kind) / greatest_eight_bit_number(true);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    scales[i] = usual * kFactors.at((first + i) % kFactors.size());
  }
  return scales;
}

void fit_scale(const Problem& problem, double value, float& scale) {
  const auto greatest = static_cast<float>(std::abs(value));
  scale = std::max(scale, fitted_scale(greatest, problem.kv_dtype == DType::e4m3));
}

GroupInputs make_group_inputs(const HeadProblem& head, std::int64_t group, InputKind kind,
                              std::uint64_t seed) {
  return Filler(head, group, seed).fill(kind);
}

HeadInputs make_head_inputs(const HeadProblem& head, InputKind kind, std::uint64_t seed) {
  GroupInputs inputs = make_group_inputs(head, 1, kind, seed);
  return {std::move(inputs.q.front()), std::move(inputs.k), std::move(inputs.v)};
}

}  // namespace fatune
