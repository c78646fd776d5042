#include "proof/compare_steps.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "model/cpu_reference.hpp"

namespace fatune {

const std::vector<double>& StepValues::of(StepTensor tensor) const {
  const std::array<const std::vector<double>*, 6> tensors{&s, &m, &p, &l, &o, &output};
  return *tensors.at(static_cast<std::size_t>(tensor));
}

std::vector<double>& StepValues::of(StepTensor tensor) {
  const std::array<std::vector<double>*, 6> tensors{&s, &m, &p, &l, &o, &output};
  return *tensors.at(static_cast<std::size_t>(tensor));
}

std::vector<std::int64_t> tensor_shape(const HeadProblem& head, StepTensor tensor) {
  switch (tensor) {
    case StepTensor::s:
    case StepTensor::p:
      return {head.rows(), head.keys()};
    case StepTensor::m:
    case StepTensor::l:
      return {head.kv_tiles(), head.rows()};
    case StepTensor::o:
      return {head.kv_tiles(), head.rows(), head.d_head_v};
    case StepTensor::output:
      break;
  }
  return {head.seq_len, head.d_head_v};
}

StepValues empty_values(const HeadProblem& head) {
  StepValues values;
  for (const StepTensor tensor : {StepTensor::s, StepTensor::m, StepTensor::p, StepTensor::l,
                                  StepTensor::o, StepTensor::output}) {
    const std::vector<std::int64_t> shape = tensor_shape(head, tensor);
    const std::int64_t elements =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    values.of(tensor).assign(static_cast<std::size_t>(elements),
                             std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

StepWindow step_window(const HeadProblem& head, StepTensor tensor, std::int64_t q_block,
                       std::int64_t step) {
  const std::int64_t row = q_block * head.tiles.query_rows;
  const std::int64_t rows = std::min(head.tiles.query_rows, head.seq_len - row);
  const std::int64_t tile = tensor == StepTensor::output ? 0 : head.tile_of(q_block, step);
  const auto at = [](std::int64_t index) { return static_cast<std::size_t>(index); };
  switch (tensor) {
    case StepTensor::s:
    case StepTensor::p: {
      const std::int64_t key = tile * head.tiles.keys_per_step;
      return {
          at(row * head.keys() + key), at(head.keys()), rows, head.tiles.keys_per_step, row, key};
    }
    case StepTensor::m:
    case StepTensor::l:
      return {row_index(head, tile, row), 1, rows, 1, row, 0};
    case StepTensor::o:
      return {row_index(head, tile, row) * at(head.d_head_v),
              at(head.d_head_v),
              rows,
              head.d_head_v,
              row,
              0};
    case StepTensor::output:
      break;
  }
  return {at(row * head.d_head_v), at(head.d_head_v), rows, head.d_head_v, row, 0};
}

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct Float64 {
  using Number = double;
  explicit Float64(DType) {}
  static double add(double sum, double product) { return sum + product; }
  [[nodiscard]] double to_element(double value) const { return value; }
};

struct SixteenBit {
  using Number = float;
  explicit SixteenBit(DType element_type) : dtype(element_type) {}
  static float add(float sum, double product) {
    const double exact = sum + product;
    const auto nearest = static_cast<float>(exact);
    return std::abs(static_cast<double>(nearest)) > std::abs(exact) ? std::nextafter(nearest, 0.0F)
                                                                    : nearest;
  }
  [[nodiscard]] float to_element(float value) const {
    return static_cast<float>(element_value(round_to_element(value, dtype), dtype));
  }
  DType dtype;
};

// Computes the head row by row. Each query row goes through all its steps.
template <typename Rules>
class RowWalk {
 public:
  using Number = typename Rules::Number;

  RowWalk(const HeadProblem& head, const HeadInputs& inputs, std::span<const double> references)
      : head_(head),
        rules_(head.dtype),
        scale_(static_cast<Number>(head.scale_log2())),
        q_(element_values(inputs.q, head.dtype)),
        k_(element_values(inputs.k, head.dtype)),
        v_(element_values(inputs.v, head.dtype)),
        references_(references),
        values_(empty_values(head)) {}

  StepValues walk() {
    for (std::int64_t row = 0; row < head_.seq_len; ++row) {
      row_ = row;
      whole_ = none();
      const std::int64_t q_block = row / head_.tiles.query_rows;
      for (std::int64_t step = 0; step < head_.steps(q_block); ++step) {
        if (head_.begins_part(q_block, step)) {
          end_part();
        }
        take_step(head_.tile_of(q_block, step));
      }
      end_part();
      finish();
    }
    return std::move(values_);
  }

 private:
  // What a row has of some keys.
  struct Sums {
    Number m{}, l{};
    std::vector<Number> o;

    // Makes M `raised`, and L and O relative to it.
    void raise(Number raised) {
      const Number factor = std::exp2(m - base_of(raised));
      m = raised;
      l *= factor;
      for (Number& of_column : o) {
        of_column *= factor;
      }
    }
  };

  static Number base_of(Number m) {
    return m == static_cast<Number>(kMinusInfinity) ? Number{0} : m;
  }

  [[nodiscard]] Sums none() const {
    return {static_cast<Number>(kMinusInfinity), Number{0},
            std::vector<Number>(static_cast<std::size_t>(head_.d_head_v), Number{0})};
  }

  // Adds the part to the whole.
  void end_part() {
    const Number greatest = std::max(whole_.m, part_.m);
    whole_.raise(greatest);
    part_.raise(greatest);
    whole_.l += part_.l;
    std::ranges::transform(whole_.o, part_.o, whole_.o.begin(), std::plus<>());
    part_ = none();
  }

  // Element i of a row of a tensor whose rows have `width` elements.
  [[nodiscard]] static double element(const std::vector<double>& tensor, std::int64_t width,
                                      std::int64_t row, std::int64_t i) {
    return tensor[static_cast<std::size_t>(row * width + i)];
  }

  [[nodiscard]] Number score(std::int64_t key) const {
    if (head_.is_masked(row_, key)) {
      return static_cast<Number>(kMinusInfinity);
    }
    Number sum = 0;
    for (std::int64_t i = 0; i < head_.d_head; ++i) {
      sum = Rules::add(sum, element(q_, head_.d_head, row_, i) * element(k_, head_.d_head, key, i));
    }
    return sum * scale_;
  }

  [[nodiscard]] std::size_t score_index(std::int64_t key) const {
    return static_cast<std::size_t>(row_ * head_.keys() + key);
  }

  // The M of this tile.
  [[nodiscard]] Number reference(std::int64_t tile, Number greatest) const {
    return references_.empty() ? std::max(part_.m, greatest)
                               : static_cast<Number>(references_[row_index(head_, tile, row_)]);
  }

  void add_key(std::int64_t key, Number p) {
    const Number rounded = rules_.to_element(p);
    values_.p[score_index(key)] = static_cast<double>(rounded);
    part_.l += p;
    // A masked key may have no row in V. (Its P is 0, unless the reference is NaN.)
    const std::int64_t dims = rounded == 0 || head_.is_masked(row_, key) ? 0 : head_.d_head_v;
    for (std::int64_t i = 0; i < dims; ++i) {
      Number& o = part_.o[static_cast<std::size_t>(i)];
      o = Rules::add(o, static_cast<double>(rounded) * element(v_, head_.d_head_v, key, i));
    }
  }

  void take_step(std::int64_t tile) {
    const std::int64_t first = tile * head_.tiles.keys_per_step;
    scores_.clear();
    for (std::int64_t i = 0; i < head_.tiles.keys_per_step; ++i) {
      scores_.push_back(score(first + i));
      values_.s[score_index(first + i)] = static_cast<double>(scores_.back());
    }
    part_.raise(reference(tile, *std::ranges::max_element(scores_)));
    for (std::int64_t i = 0; i < head_.tiles.keys_per_step; ++i) {
      add_key(first + i, std::exp2(scores_[static_cast<std::size_t>(i)] - base_of(part_.m)));
    }
    keep(row_index(head_, tile, row_));
  }

  void keep(std::size_t at) {
    values_.m[at] = static_cast<double>(part_.m);
    values_.l[at] = static_cast<double>(part_.l);
    std::transform(part_.o.begin(), part_.o.end(),
                   values_.o.begin() + static_cast<std::ptrdiff_t>(at) * head_.d_head_v,
                   [](Number o) { return static_cast<double>(o); });
  }

  void finish() {
    std::transform(
        whole_.o.begin(), whole_.o.end(), values_.output.begin() + row_ * head_.d_head_v,
        [this](Number o) { return static_cast<double>(rules_.to_element(o / whole_.l)); });
  }

  const HeadProblem& head_;
  Rules rules_;
  Number scale_;
  std::vector<double> q_, k_, v_;
  std::span<const double> references_;
  StepValues values_;
  std::int64_t row_ = 0;
  Sums part_{none()}, whole_{};
  std::vector<Number> scores_;
};

}  // namespace

StepValues compute_blockwise(const HeadProblem& head, const HeadInputs& inputs,
                             Arithmetic arithmetic, std::span<const double> references) {
  return arithmetic == Arithmetic::float64 ? RowWalk<Float64>(head, inputs, references).walk()
                                           : RowWalk<SixteenBit>(head, inputs, references).walk();
}

}  // namespace fatune
