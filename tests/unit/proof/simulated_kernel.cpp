#include "unit/proof/simulated_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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
      sums_ = none();
      parts_.clear();
      const std::int64_t block = row_ / head_.tiles.query_rows;
      for (std::int64_t step = 0; step < head_.steps(block); ++step) {
        if (step > 0 && head_.begins_part(block, step)) {
          parts_.push_back(std::exchange(sums_, none()));
        }
        if (fault_ != Fault::left_out_step || step != 1) {
          take(head_.tile_of(block, step), step + 1 == head_.steps(block));
        }
      }
      add_parts();
      store();
    }
    return kernel_;
  }

 private:
  // What a row has of some keys.
  struct Sums {
    float m, l;
    std::vector<float> o;
  };
  [[nodiscard]] Sums none() const {
    return {kMinusInfinity, 0.0F, std::vector<float>(static_cast<std::size_t>(head_.d_head), 0.0F)};
  }

  // Adds the sums of all parts to those of the last.
  void add_parts() {
    for (const Sums& part : parts_) {
      const bool is_left_out = fault_ == Fault::left_out_part && &part == &parts_[1];
      const float greatest = std::max(sums_.m, part.m);
      const bool alike = fault_ == Fault::parts_added_alike;
      const float own = alike ? 1.0F : std::exp2(sums_.m - greatest);
      const float others = is_left_out ? 0.0F : alike ? 1.0F : std::exp2(part.m - greatest);
      sums_.l = own * sums_.l + others * part.l;
      std::ranges::transform(sums_.o, part.o, sums_.o.begin(),
                             [&](float a, float b) { return own * a + others * b; });
      sums_.m = greatest;
    }
  }

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
    return key >= head_.seq_len_kv ||
           (head_.causal && key > row_ + head_.seq_len_kv - head_.seq_len + ahead);
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
    if (!(greatest > sums_.m + static_cast<float>(head_.tiles.reference_slack_log2))) {
      return;
    }
    const float factor = fault_ == Fault::no_rescale ? 1.0F : std::exp2(sums_.m - greatest);
    sums_.m = greatest;
    sums_.l *= factor;
    for (float& o : sums_.o) {
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
    const float base =
        sums_.m == kMinusInfinity || (last && fault_ == Fault::no_exponent_base) ? 0 : sums_.m;
    for (std::int64_t i = 0; i < head_.tiles.keys_per_step; ++i) {
      const float p = std::exp2(scores[static_cast<std::size_t>(i)] - base);
      sums_.l += p;
      kernel_.values.p[score_index(first + i)] = static_cast<double>(rounded(p));
      add(rounded(p), key_of_v(first, i));
    }
    keep(row_index(head_, tile, row_));
  }

  void add(float p, std::int64_t key) {
    for (std::int64_t i = 0; key < head_.seq_len_kv && i < head_.d_head; ++i) {
      sums_.o[static_cast<std::size_t>(i)] += p * at(inputs_.v, key, i);
    }
  }

  [[nodiscard]] std::size_t score_index(std::int64_t key) const {
    return static_cast<std::size_t>(row_ * head_.keys() + key);
  }

  void keep(std::size_t index) {
    kernel_.values.m[index] =
        static_cast<double>(sums_.m) + (fault_ == Fault::m_too_high ? 1.0 : 0.0);
    kernel_.values.l[index] = static_cast<double>(sums_.l);
    std::copy(sums_.o.begin(), sums_.o.end(),
              kernel_.values.o.begin() + static_cast<std::ptrdiff_t>(index) * head_.d_head);
  }

  void store() {
    for (std::size_t i = 0; i < sums_.o.size(); ++i) {
      kernel_.values.output[static_cast<std::size_t>(row_) * sums_.o.size() + i] =
          static_cast<double>(
              rounded(fault_ == Fault::no_division ? sums_.o[i] : sums_.o[i] / sums_.l));
    }
  }

  const HeadProblem& head_;
  const HeadInputs& inputs_;
  Fault fault_;
  KernelValues kernel_;
  std::int64_t row_ = 0;
  Sums sums_{};              // of the part so far
  std::vector<Sums> parts_;  // of the parts before
};

}  // namespace

KernelValues simulate_kernel(const HeadProblem& head, const HeadInputs& inputs, Fault fault) {
  return Simulation(head, inputs, fault).run();
}

}  // namespace fatune::fixtures
