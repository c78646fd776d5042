#include "attention/head_inputs.hpp"

#include <cmath>
#include <random>

#include "attention/cpu_reference.hpp"

namespace fatune {
namespace {

using Elements = std::vector<std::uint16_t>;

// As in the reference kernels' large_logits and dominating_key (kernels/reference).
constexpr double kLargeLogitFactor = 7.0;
constexpr double kDominatingLogit = 16.0;

class Filler {
 public:
  Filler(const HeadProblem& head, std::uint64_t seed) : head_(head), random_(seed) {}

  HeadInputs fill(InitKind kind) {
    switch (kind) {
      case InitKind::random:
        return {normal(1.0), normal(1.0), normal(1.0)};
      case InitKind::large_logits:
        return {normal(kLargeLogitFactor), normal(1.0), normal(1.0)};
      case InitKind::range:
        return alike([this](std::int64_t i) {
          return 2.0 - 2.0 * static_cast<double>(i) / static_cast<double>(elements());
        });
      case InitKind::identity:
        return alike([this](std::int64_t i) {
          return i % head_.d_head == i / head_.d_head % head_.d_head ? 1.0 : 0.0;
        });
      case InitKind::constant:
        return alike([](std::int64_t) { return 1.0; });
      case InitKind::dominating_key:
        return dominating_key();
      case InitKind::onehot:
        break;
    }
    return onehot();
  }

 private:
  [[nodiscard]] std::int64_t elements() const { return head_.seq_len * head_.d_head; }

  template <typename Value>
  Elements make(Value value) const {
    Elements bits;
    for (std::int64_t i = 0; i < elements(); ++i) {
      bits.push_back(round_to_element(value(i), head_.dtype));
    }
    return bits;
  }

  template <typename Value>
  HeadInputs alike(Value value) const {
    const Elements all = make(value);
    return {all, all, all};
  }

  Elements normal(double factor) {
    return make([&](std::int64_t) { return factor * normal_(random_); });
  }

  Elements one_at(std::int64_t row, std::int64_t column) const {
    return make(
        [this, at = row * head_.d_head + column](std::int64_t i) { return i == at ? 1.0 : 0.0; });
  }

  // Queries are normal plus a direction of +-1, so that their product with it is about d_head, and
  // the logit, scaled by 1 / sqrt(d_head), the key's length times sqrt(d_head).
  HeadInputs dominating_key() {
    const double length = kDominatingLogit / std::sqrt(static_cast<double>(head_.d_head));
    const std::int64_t key = below(head_.seq_len);
    std::vector<double> direction;
    for (std::int64_t i = 0; i < head_.d_head; ++i) {
      direction.push_back(below(2) == 0 ? 1.0 : -1.0);
    }
    const auto along = [&](std::int64_t i) {
      return direction[static_cast<std::size_t>(i % head_.d_head)];
    };
    HeadInputs inputs;
    inputs.q = make([&](std::int64_t i) { return normal_(random_) + along(i); });
    inputs.k = make([&](std::int64_t i) {
      return i / head_.d_head == key ? length * along(i) : normal_(random_);
    });
    inputs.v = normal(1.0);
    return inputs;
  }

  std::int64_t below(std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_);
  }

  // The query sees the key, also when causal.
  HeadInputs onehot() {
    const std::int64_t key = below(head_.seq_len);
    const std::int64_t query = key + below(head_.seq_len - key);
    const std::int64_t column = below(head_.d_head);
    return {one_at(query, column), one_at(key, column), one_at(key, below(head_.d_head))};
  }

  const HeadProblem& head_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace

HeadInputs make_head_inputs(const HeadProblem& head, InitKind kind, std::uint64_t seed) {
  return Filler(head, seed).fill(kind);
}

}  // namespace fatune
