#include "unit/proof/simulated_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/cpu_reference.hpp"

namespace fatune::fixtures {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

class Simulation {
 public:
  Simulation(const HeadProblem& head, const HeadInputs& inputs, Fault fault)
      : head_(head), inputs_(inputs), fault_(fault), kernel_{empty_values(head), true} {}

  KernelValues run() {
    for (row_ = 0; row_ < head_.seq_len; ++row_) {
      m_ = kMinusInfinity;
      l_ = 0.0F;
      o_.assign(static_cast<std::size_t>(head_.d_head), 0.0F);
      const std::int64_t block = row_ / head_.tiles.query_rows;
      for (std::int64_t step = 0; step < head_.steps(block); ++step) {
        if (fault_ != Fault::left_out_step || step != 1) {
          take(head_.tile_of(block, step), step + 1 == head_.steps(block));
        }
      }
      store();
    }
    return kernel_;
  }

 private:
  [[nodiscard]] float at(const std::vector<std::uint16_t>& tensor, std::int64_t row,
                         std::int64_t i) const {
    return static_cast<float>(
        element_value(tensor[static_cast<std::size_t>(row * head_.d_head + i)], head_.dtype));
  }
  [[nodiscard]] float rounded(float x) const {
    return static_cast<float>(element_value(round_to_element(x, head_.dtype), head_.dtype));
  }

  [[nodiscard]] bool hidden(std::int64_t key) const {
    const std::int64_t ahead = fault_ == Fault::mask_off_by_one ? 1 : 0;
    return key >= head_.seq_len || (head_.causal && key > row_ + ahead);
  }

  [[nodiscard]] float score(std::int64_t key) const {
    if (hidden(key)) {
      return kMinusInfinity;
    }
    float sum = 0.0F;
    for (std::int64_t first = 0; first < head_.d_head; first += 16) {
      float part = 0.0F;
      for (std::int64_t i = first; i < std::min(first + 16, head_.d_head); ++i) {
        part += at(inputs_.q, row_, i) * at(inputs_.k, key, i);
      }
      sum += part;
    }
    return sum * static_cast<float>(head_.scale_log2());
  }

  void raise(float greatest) {
    if (!(greatest > m_ + static_cast<float>(head_.tiles.reference_slack_log2))) {
      return;
    }
    const float factor = fault_ == Fault::no_rescale ? 1.0F : std::exp2(m_ - greatest);
    m_ = greatest;
    l_ *= factor;
    for (float& o : o_) {
      o *= fault_ == Fault::no_output_rescale ? 1.0F : factor;
    }
  }

  [[nodiscard]] std::int64_t key_of_v(std::int64_t first, std::int64_t i) const {
    const std::int64_t half = head_.tiles.keys_per_step / 2;
    return first + (fault_ == Fault::swapped_v ? (i + half) % (2 * half) : i);
  }

  void take(std::int64_t tile, bool last) {
    const std::int64_t first = tile * head_.tiles.keys_per_step;
    std::vector<float> scores;
    for (std::int64_t i = 0; i < head_.tiles.keys_per_step; ++i) {
      scores.push_back(score(first + i));
      kernel_.values.s[score_index(first + i)] = static_cast<double>(scores.back());
    }
    raise(*std::max_element(scores.begin(), scores.end()));
    const float base = m_ == kMinusInfinity || (last && fault_ == Fault::no_exponent_base) ? 0 : m_;
    for (std::int64_t i = 0; i < head_.tiles.keys_per_step; ++i) {
      const float p = std::exp2(scores[static_cast<std::size_t>(i)] - base);
      l_ += p;
      kernel_.values.p[score_index(first + i)] = static_cast<double>(rounded(p));
      add(rounded(p), key_of_v(first, i));
    }
    keep(row_index(head_, tile, row_));
  }

  void add(float p, std::int64_t key) {
    for (std::int64_t i = 0; key < head_.seq_len && i < head_.d_head; ++i) {
      o_[static_cast<std::size_t>(i)] += p * at(inputs_.v, key, i);
    }
  }

  [[nodiscard]] std::size_t score_index(std::int64_t key) const {
    return static_cast<std::size_t>(row_ * head_.keys() + key);
  }

  void keep(std::size_t index) {
    kernel_.values.m[index] = static_cast<double>(m_) + (fault_ == Fault::m_too_high ? 1.0 : 0.0);
    kernel_.values.l[index] = static_cast<double>(l_);
    std::copy(o_.begin(), o_.end(),
              kernel_.values.o.begin() + static_cast<std::ptrdiff_t>(index) * head_.d_head);
  }

  void store() {
    for (std::size_t i = 0; i < o_.size(); ++i) {
      kernel_.values.output[static_cast<std::size_t>(row_) * o_.size() + i] =
          static_cast<double>(rounded(fault_ == Fault::no_division ? o_[i] : o_[i] / l_));
    }
  }

  const HeadProblem& head_;
  const HeadInputs& inputs_;
  Fault fault_;
  KernelValues kernel_;
  std::int64_t row_ = 0;
  float m_ = 0.0F;
  float l_ = 0.0F;
  std::vector<float> o_;
};

}  // namespace

KernelValues simulate_kernel(const HeadProblem& head, const HeadInputs& inputs, Fault fault) {
  return Simulation(head, inputs, fault).run();
}

}  // namespace fatune::fixtures
