#include "debug/head_inputs.hpp"

#include <random>

#include "measure/cpu_reference.hpp"

namespace fatune {
namespace {

using Elements = std::vector<std::uint16_t>;

constexpr double kLargeLogitFactor = 7.0;  // as the reference kernels' large_logits

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
