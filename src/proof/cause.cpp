#include "proof/compare_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "model/cpu_reference.hpp"

namespace fatune {
namespace {

class Detective {
 public:
  Detective(const HeadProblem& head, const HeadInputs& inputs, const StepValues& kernel,
            const Comparison& comparison, const StepCheck& first)
      : head_(head), inputs_(inputs), kernel_(kernel), comparison_(comparison), first_(first) {}

  [[nodiscard]] std::string explain() const {
    if (std::isnan(value().kernel)) {
      return std::string("not a number, or never written") +
             (shows_steps()
                  ? ": a tile or rows that were left out, or a NaN from uninitialised data"
                  : "");
    }
    switch (first_.tensor) {
      case StepTensor::s:
        return explain_scores();
      case StepTensor::m:
        return "the scores are right: the maximum of a row, or when M is updated to it";
      case StepTensor::p:
        return "S and M are right: the exponential, or the rounding and packing of P";
      case StepTensor::l:
        return explain_sum();
      case StepTensor::o:
        return explain_accumulator();
      case StepTensor::output:
        break;
    }
    return shows_steps() ? explain_output() : "";
  }

 private:
  [[nodiscard]] const WrongValue& value() const { return *first_.first_wrong; }
  [[nodiscard]] bool shows_steps() const {
    return comparison_.checks.front().max_error.has_value();
  }

  // The reference M of the wrong row, before and after the step.
  [[nodiscard]] double reference_before() const {
    return kernel_
        .m[row_index(head_, head_.tile_of(first_.q_block, *first_.step - 1), value().row)];
  }
  [[nodiscard]] double reference_now() const {
    return kernel_.m[row_index(head_, *first_.kv_tile, value().row)];
  }
  [[nodiscard]] bool has_risen() const {
    return !head_.begins_part(first_.q_block, *first_.step) && std::isfinite(reference_before()) &&
           reference_now() > reference_before();
  }
  [[nodiscard]] std::string rise() const {
    return fmt::format("M of this row rose from {:.4g} to {:.4g} at this step", reference_before(),
                       reference_now());
  }

  // Blames the mask if each wrong score is masked by the kernel alone, or by the algorithm alone.
  [[nodiscard]] std::string explain_scores() const {
    const StepWindow window = step_window(head_, StepTensor::s, first_.q_block, *first_.step);
    std::int64_t of_the_mask = 0;
    for (std::int64_t row = 0; row < window.rows; ++row) {
      for (std::int64_t column = 0; column < window.columns; ++column) {
        const std::size_t at = window.index(row, column);
        of_the_mask += std::isinf(kernel_.s[at]) != std::isinf(comparison_.float64.s[at]) ? 1 : 0;
      }
    }
    if (of_the_mask == first_.wrong) {
      return fmt::format(
          "the mask: {} of key {} for query {}, and nothing else is wrong",
          std::isinf(value().kernel) ? "it hides the score" : "it lets through the score",
          value().column, value().row);
    }
    return "the product Q K^T, its scale, or the tiles of Q and K (copies, swizzle, a missing "
           "barrier)";
  }

  [[nodiscard]] std::string explain_sum() const {
    return has_risen() ? rise() + ", and L does not follow: the rescaling of L"
                       : "S, M and P are right: the row sum of P";
  }

  // O of the previous step, not rescaled, plus the new P V.
  [[nodiscard]] double without_rescaling() const {
    const std::int64_t before = head_.tile_of(first_.q_block, *first_.step - 1);
    const auto d = static_cast<std::size_t>(head_.d_head_v);
    const auto column = static_cast<std::size_t>(value().column);
    double o = kernel_.o[row_index(head_, before, value().row) * d + column];
    const StepWindow window = step_window(head_, StepTensor::p, first_.q_block, *first_.step);
    for (std::int64_t i = 0; i < window.columns; ++i) {
      const std::int64_t key = window.first_column + i;
      if (key < head_.seq_len_kv) {
        const std::uint16_t v = inputs_.v[static_cast<std::size_t>(key) * d + column];
        o += kernel_.p[window.index(value().row - window.first_row, i)] *
             element_value(v, head_.dtype);
      }
    }
    return o;
  }

  [[nodiscard]] std::string explain_accumulator() const {
    if (has_risen()) {
      return rise() + (std::abs(without_rescaling() - value().kernel) <= first_.limit
                           ? ", and O has the value that it would have without rescaling"
                           : ": the rescaling of O, or the product P V");
    }
    return "S, M, P and L are right, and M did not rise: the product P V, the tile of V (copy, "
           "swizzle, order of its parts), or a missing barrier before it";
  }

  // What a row has of the keys of one part.
  struct Part {
    std::int64_t number = 0;
    std::size_t at = 0;  // row_index() of its last step
    double weight = 0.0;
  };

  // The parts of the wrong row, as the kernel computed them.
  [[nodiscard]] std::vector<Part> parts() const {
    std::vector<Part> parts;
    double greatest = -std::numeric_limits<double>::infinity();
    const std::int64_t steps = head_.steps(first_.q_block);
    for (std::int64_t step = 0; step < steps; ++step) {
      if (step + 1 == steps || head_.begins_part(first_.q_block, step + 1)) {
        const std::int64_t tile = head_.tile_of(first_.q_block, step);
        const std::int64_t number = tile / std::max<std::int64_t>(head_.tiles.steps_per_part, 1);
        parts.push_back({number, row_index(head_, tile, value().row)});
        greatest = std::max(greatest, kernel_.m[parts.back().at]);
      }
    }
    for (Part& part : parts) {
      part.weight = std::exp2(kernel_.m[part.at] - greatest);
    }
    return parts;
  }

  // Whether the wrong row is what these parts give together.
  [[nodiscard]] bool is_of(const std::vector<Part>& parts) const {
    const auto d = static_cast<std::size_t>(head_.d_head_v);
    double l = 0.0;
    for (const Part& part : parts) {
      l += part.weight * kernel_.l[part.at];
    }
    for (std::size_t column = 0; column < d; ++column) {
      double o = 0.0;
      for (const Part& part : parts) {
        o += part.weight * kernel_.o[part.at * d + column];
      }
      const double output = kernel_.output[static_cast<std::size_t>(value().row) * d + column];
      if (!(std::abs(o / l - output) <= first_.limit)) {
        return false;
      }
    }
    return true;
  }

  // The mistake in combining parts that gives the kernel's row; empty: none that is known.
  [[nodiscard]] std::string mistake_in(const std::vector<Part>& parts) const {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::vector<Part> others = parts;
      others[i].weight = 0.0;
      if (is_of(others)) {
        return fmt::format("it is the row without part {}", parts[i].number);
      }
    }
    std::vector<Part> alike = parts;
    for (Part& part : alike) {
      part.weight = 1.0;
    }
    return is_of(alike) ? "it is the row that parts give if their M is ignored" : "";
  }

  [[nodiscard]] std::string explain_output() const {
    const std::vector<Part> all = parts();
    if (all.size() < 2) {
      return "the division by L, the rounding or the store of O; every step is right";
    }
    const std::string mistake = mistake_in(all);
    return "every step is right: " +
           (mistake.empty() ? "the combination of the parts, the division by L, or the store of O"
                            : "the combination of the parts, and " + mistake);
  }

  const HeadProblem& head_;
  const HeadInputs& inputs_;
  const StepValues& kernel_;
  const Comparison& comparison_;
  const StepCheck& first_;
};

}  // namespace

std::string likely_cause(const HeadProblem& head, const HeadInputs& inputs,
                         const StepValues& kernel, const Comparison& comparison,
                         const StepCheck& first) {
  return Detective(head, inputs, kernel, comparison, first).explain();
}

}  // namespace fatune
