#include "debug/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <tuple>

#include "attention/cpu_reference.hpp"
#include "debug/blockwise.hpp"
#include "debug/limits.hpp"

namespace fatune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns 0 if both are the same infinity, and NaN if one is NaN.
double distance(double a, double b) { return a == b ? 0.0 : std::abs(a - b); }

class Comparer {
 public:
  Comparer(const HeadProblem& head, const Comparison& expected, const StepLimits& limits,
           const std::optional<KernelValues>& kernel)
      : head_(head), expected_(expected), limits_(limits), kernel_(kernel) {}

  [[nodiscard]] std::vector<StepCheck> checks() {
    std::vector<StepCheck> checks;
    for (std::int64_t q_block = 0; q_block < head_.q_blocks(); ++q_block) {
      greatest_.assign(static_cast<std::size_t>(head_.rows()), -kInfinity);
      for (std::int64_t step = 0; step < head_.steps(q_block); ++step) {
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
  // Updates the greatest score so far of each row.
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
    if (step > 0) {
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

namespace {

void fill(std::vector<double>& values, std::span<const float>& dump) {
  if (dump.size() < values.size()) {
    throw std::logic_error("intermediates of another head");
  }
  std::copy_n(dump.begin(), values.size(), values.begin());
  dump = dump.subspan(values.size());
}

}  // namespace

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
