#include "proof/compare_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <tuple>

#include "model/cpu_reference.hpp"
#include "model/error_rule.hpp"

namespace fatune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns 0 if both are the same infinity, and NaN if one is NaN.
double distance(double a, double b) { return a == b ? 0.0 : std::abs(a - b); }

constexpr double kFp32Ulp = 0x1p-23;
// The error of scores whose sums are formed in another order, or truncated instead of rounded.
constexpr double kScoreUlps = 4.0;

std::vector<double> row_norms(const std::vector<std::uint16_t>& elements, const HeadProblem& head) {
  std::vector<double> norms;
  for (std::int64_t row = 0; row < std::ssize(elements) / head.d_head; ++row) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < head.d_head; ++i) {
      const double x =
          element_value(elements[static_cast<std::size_t>(row * head.d_head + i)], head.dtype);
      sum += x * x;
    }
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

double greatest_magnitude(const std::vector<std::uint16_t>& elements, DType dtype) {
  double greatest = 0.0;
  for (const std::uint16_t bits : elements) {
    greatest = std::max(greatest, std::abs(element_value(bits, dtype)));
  }
  return greatest;
}

double greatest_in(const std::vector<double>& values, std::int64_t first, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(values.size());
  const auto begin = values.begin() + std::min(first, size);
  return *std::max_element(begin, values.begin() + std::min(first + count, size));
}

// Returns the greatest magnitude of the finite values in a window.
template <typename Value>
double greatest_of(const StepWindow& window, Value value) {
  double greatest = 0.0;
  for (std::int64_t row = 0; row < window.rows; ++row) {
    for (std::int64_t column = 0; column < window.columns; ++column) {
      const double x = std::abs(value(window.index(row, column)));
      greatest = std::isfinite(x) ? std::max(greatest, x) : greatest;
    }
  }
  return greatest;
}

/// The limits for the differences between a kernel's intermediates and the float64 ones.
/// docs/debug.md has the derivation.
///
/// Each tensor, block and step has a limit. It is twice the greatest error of the emulated 16-bit
/// algorithm (as model/error_rule.hpp has it for O), plus an allowance for sums that the kernel
/// forms in another order than the emulation. All values are relative to the same M.
class StepLimits {
 public:
  /// `head`, `float64` and `sixteen_bit` must outlive this object.
  StepLimits(const HeadProblem& head, const HeadInputs& inputs, const StepValues& float64,
             const StepValues& sixteen_bit)
      : head_(head),
        float64_(float64),
        sixteen_bit_(sixteen_bit),
        q_norms_(row_norms(inputs.q, head)),
        k_norms_(row_norms(inputs.k, head)),
        greatest_v_(greatest_magnitude(inputs.v, head.dtype)) {
    for (std::int64_t q_block = 0; q_block < head.q_blocks(); ++q_block) {
      steps_.push_back(steps_of(q_block));
    }
  }

  /// Returns the limit of a tensor in a step. `step` is ignored for the output.
  [[nodiscard]] double limit(StepTensor tensor, std::int64_t q_block, std::int64_t step) const {
    const double emulated = emulated_error(tensor, q_block, step);
    switch (tensor) {
      case StepTensor::s:
        return score_limit(q_block, step);
      case StepTensor::m:
        return reference_limit(q_block, step);
      case StepTensor::p: {
        const double p = greatest(tensor, q_block, step);
        return error_limit(emulated, p, head_.dtype) + p * exponential_error(q_block, step);
      }
      case StepTensor::l:
        return 2 * emulated + greatest(tensor, q_block, step) * sum_error(q_block, step);
      case StepTensor::o:  // no sum of P V exceeds L max|V|
        return 2 * emulated +
               greatest(StepTensor::l, q_block, step) * greatest_v_ * sum_error(q_block, step);
      case StepTensor::output:
        break;
    }
    return error_limit(emulated, greatest(tensor, q_block, step), head_.dtype);
  }

  /// Returns the greatest error of the emulated 16-bit algorithm in this tensor, block and step.
  [[nodiscard]] double emulated_error(StepTensor tensor, std::int64_t q_block,
                                      std::int64_t step) const {
    const std::vector<double>& exact = float64_.of(tensor);
    const std::vector<double>& emulated = sixteen_bit_.of(tensor);
    return greatest_of(step_window(head_, tensor, q_block, step),
                       [&](std::size_t i) { return emulated[i] - exact[i]; });
  }

 private:
  // No partial sum of q k exceeds |q| |k|. The allowance is kScoreUlps units of fp32's last place
  // of that bound.
  [[nodiscard]] double score_limit(std::int64_t q_block, std::int64_t step) const {
    const std::int64_t key = head_.tile_of(q_block, step) * head_.tiles.keys_per_step;
    const double partial_sum =
        greatest_in(q_norms_, q_block * head_.tiles.query_rows, head_.tiles.query_rows) *
        greatest_in(k_norms_, key, head_.tiles.keys_per_step);
    return 2 * emulated_error(StepTensor::s, q_block, step) +
           kScoreUlps * kFp32Ulp * head_.scale_log2() * partial_sum;
  }

  // The steps of a part up to and with one of them.
  struct StepsSoFar {
    std::int64_t count = 0;
    double score_limit = 0.0;  // the greatest of them
  };

  [[nodiscard]] std::vector<StepsSoFar> steps_of(std::int64_t q_block) const {
    std::vector<StepsSoFar> steps;
    StepsSoFar so_far;
    for (std::int64_t step = 0; step < head_.steps(q_block); ++step) {
      so_far = head_.begins_part(q_block, step) ? StepsSoFar{} : so_far;
      so_far = {so_far.count + 1, std::max(so_far.score_limit, score_limit(q_block, step))};
      steps.push_back(so_far);
    }
    return steps;
  }

  [[nodiscard]] const StepsSoFar& so_far(std::int64_t q_block, std::int64_t step) const {
    return steps_[static_cast<std::size_t>(q_block)][static_cast<std::size_t>(step)];
  }

  // M is one of the part's scores so far, so their greatest limit applies.
  [[nodiscard]] double reference_limit(std::int64_t q_block, std::int64_t step) const {
    return so_far(q_block, step).score_limit;
  }

  // The relative error of 2^(S - M). S, M and the approximate instruction contribute to it.
  [[nodiscard]] double exponential_error(std::int64_t q_block, std::int64_t step) const {
    return 2 * std::numbers::ln2 * reference_limit(q_block, step) + 2 * kFp32Ulp;
  }

  // The relative error of a sum of exponentials that each step may have rescaled.
  [[nodiscard]] double sum_error(std::int64_t q_block, std::int64_t step) const {
    const auto steps = static_cast<double>(so_far(q_block, step).count);
    const auto addends = steps * static_cast<double>(head_.tiles.keys_per_step);
    return (steps + 1) * exponential_error(q_block, step) + addends * kFp32Ulp / 2;
  }

  [[nodiscard]] double greatest(StepTensor tensor, std::int64_t q_block, std::int64_t step) const {
    const std::vector<double>& exact = float64_.of(tensor);
    return greatest_of(step_window(head_, tensor, q_block, step),
                       [&](std::size_t i) { return exact[i]; });
  }

  const HeadProblem& head_;
  const StepValues& float64_;
  const StepValues& sixteen_bit_;
  std::vector<double> q_norms_, k_norms_;  // Euclidean norm of each row
  double greatest_v_ = 0.0;
  std::vector<std::vector<StepsSoFar>> steps_;  // of each block
};

class Comparer {
 public:
  Comparer(const HeadProblem& head, const Comparison& expected, const StepLimits& limits,
           const std::optional<KernelValues>& kernel)
      : head_(head), expected_(expected), limits_(limits), kernel_(kernel) {}

  [[nodiscard]] std::vector<StepCheck> checks() {
    std::vector<StepCheck> checks;
    for (std::int64_t q_block = 0; q_block < head_.q_blocks(); ++q_block) {
      for (std::int64_t step = 0; step < head_.steps(q_block); ++step) {
        if (head_.begins_part(q_block, step)) {
          greatest_.assign(static_cast<std::size_t>(head_.rows()), -kInfinity);
        }
        note_scores(q_block, step);
        for (const StepTensor tensor : kStepTensors) {
          checks.push_back(check(tensor, q_block, step));
        }
      }
    }
    for (std::int64_t q_block = 0; q_block < head_.q_blocks(); ++q_block) {
      checks.push_back(check(StepTensor::output, q_block, 0));
    }
    return checks;
  }

 private:
  // Updates the greatest score of each row so far, among those of the part.
  void note_scores(std::int64_t q_block, std::int64_t step) {
    const StepWindow window = step_window(head_, StepTensor::s, q_block, step);
    for (std::int64_t row = 0; row < window.rows; ++row) {
      double& greatest = greatest_[static_cast<std::size_t>(window.first_row + row)];
      for (std::int64_t column = 0; column < window.columns; ++column) {
        greatest = std::max(greatest, expected_.float64.s[window.index(row, column)]);
      }
    }
  }

  [[nodiscard]] StepCheck check(StepTensor tensor, std::int64_t q_block, std::int64_t step) const {
    StepCheck check;
    check.q_block = q_block;
    check.tensor = tensor;
    if (tensor != StepTensor::output) {
      check.step = step;
      check.kv_tile = head_.tile_of(q_block, step);
    }
    check.emulated_error = limits_.emulated_error(tensor, q_block, step);
    check.limit = limits_.limit(tensor, q_block, step);
    if (kernel_ && (kernel_->has_steps || tensor == StepTensor::output)) {
      compare(step, check);
    }
    return check;
  }

  void compare(std::int64_t step, StepCheck& check) const {
    const StepWindow window = step_window(head_, check.tensor, check.q_block, step);
    check.max_error = 0.0;
    for (std::int64_t row = 0; row < window.rows; ++row) {
      for (std::int64_t column = 0; column < window.columns; ++column) {
        compare_value(window, row, column, step, check);
      }
    }
    check.values = window.rows * window.columns;
  }

  void compare_value(const StepWindow& window, std::int64_t row, std::int64_t column,
                     std::int64_t step, StepCheck& check) const {
    const std::size_t at = window.index(row, column);
    const double value = kernel_->values.of(check.tensor)[at];
    const double want = check.tensor == StepTensor::m
                            ? allowed_reference(window.first_row + row, at, check.q_block, step)
                            : expected_.float64.of(check.tensor)[at];
    const double error = distance(value, want);
    check.max_error = std::isnan(error) ? kInfinity : std::max(*check.max_error, error);
    if (error <= check.limit) {
      return;
    }
    ++check.wrong;
    if (!check.first_wrong) {
      check.first_wrong = WrongValue{window.first_row + row,
                                     window.first_column + column,
                                     value,
                                     want,
                                     expected_.sixteen_bit.of(check.tensor)[at],
                                     error};
    }
  }

  // Returns the allowed value of M that is nearest to the kernel's. In a row that has seen only
  // masked scores, only -infinity is allowed.
  [[nodiscard]] double allowed_reference(std::int64_t row, std::size_t at, std::int64_t q_block,
                                         std::int64_t step) const {
    const double greatest = greatest_[static_cast<std::size_t>(row)];
    double least = greatest - head_.tiles.reference_slack_log2;
    if (!head_.begins_part(q_block, step)) {
      const double before =
          kernel_->values.m[row_index(head_, head_.tile_of(q_block, step - 1), row)];
      least = before > least ? std::min(before, greatest) : least;
    }
    const double value = kernel_->values.m[at];
    return std::isnan(value) ? greatest : std::clamp(value, least, greatest);
  }

  const HeadProblem& head_;
  const Comparison& expected_;
  const StepLimits& limits_;
  const std::optional<KernelValues>& kernel_;
  std::vector<double> greatest_;
};

auto order_of(const StepCheck& check) {
  return std::tuple(check.step.value_or(std::numeric_limits<std::int64_t>::max()), check.tensor,
                    check.q_block);
}

void fill(std::vector<double>& values, std::span<const float>& dump) {
  if (dump.size() < values.size()) {
    throw std::logic_error("intermediates of another head");
  }
  std::copy_n(dump.begin(), values.size(), values.begin());
  dump = dump.subspan(values.size());
}

}  // namespace

Comparison compare_steps(const HeadProblem& head, const HeadInputs& inputs,
                         const std::optional<KernelValues>& kernel) {
  const bool has_steps = kernel && kernel->has_steps;
  const std::span<const double> references =
      has_steps ? std::span<const double>(kernel->values.m) : std::span<const double>();
  Comparison comparison;
  comparison.float64 = compute_blockwise(head, inputs, Arithmetic::float64, references);
  comparison.sixteen_bit = compute_blockwise(head, inputs, Arithmetic::sixteen_bit, references);
  const StepLimits limits(head, inputs, comparison.float64, comparison.sixteen_bit);
  comparison.checks = Comparer(head, comparison, limits, kernel).checks();
  return comparison;
}

const StepCheck* first_wrong(const std::vector<StepCheck>& checks) {
  const StepCheck* first = nullptr;
  for (const StepCheck& check : checks) {
    if (check.wrong > 0 && (first == nullptr || order_of(check) < order_of(*first))) {
      first = &check;
    }
  }
  return first;
}

KernelValues read_kernel_values(const HeadProblem& head, std::span<const std::uint16_t> output,
                                std::span<const float> dump) {
  KernelValues kernel{empty_values(head), !dump.empty()};
  if (kernel.has_steps) {
    for (const StepTensor tensor :
         {StepTensor::s, StepTensor::p, StepTensor::m, StepTensor::l, StepTensor::o}) {
      fill(kernel.values.of(tensor), dump);
    }
  }
  std::transform(output.begin(), output.end(), kernel.values.output.begin(),
                 [&](std::uint16_t bits) { return element_value(bits, head.dtype); });
  return kernel;
}

}  // namespace fatune
