#include "model/outcome.hpp"

#include <algorithm>

#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

/// The first line of a compiler's log that names an error, else the first line that is not empty.
std::string first_error_line(std::string_view log) {
  std::string_view first;
  while (!log.empty()) {
    const std::string_view line = take_until(log, '\n');
    if (line.find("error") != std::string_view::npos) {
      return std::string(line);
    }
    first = first.empty() ? line : first;
  }
  return first.empty() ? "no log" : std::string(first);
}

struct Summary {
  std::string operator()(const Pruned& o) const { return o.rule + ": " + o.reason; }
  std::string operator()(const Invalid& o) const { return o.rule + ": " + o.reason; }
  std::string operator()(const CompileFailed& o) const { return first_error_line(o.log); }
  std::string operator()(const CompilerCrashed& o) const { return o.reason; }
  std::string operator()(const Serialized& o) const { return o.reason; }
  std::string operator()(const Unlaunchable& o) const { return o.limit; }
  std::string operator()(const Crashed& o) const { return o.error; }
  std::string operator()(const TimedOut& o) const {
    return fmt::format("no result within {:.0f} ms", o.deadline_ms);
  }
  std::string operator()(const WrongResult& o) const { return o.finding; }
  std::string operator()(const Implausible& o) const {
    return fmt::format("{:.3g} us cannot be believed: {}", o.time_us, o.reason);
  }
  std::string operator()(const Flagged& o) const { return o.finding; }
  std::string operator()(const Estimated& o) const {
    return fmt::format("estimated {:.1f} us (not measured)", o.estimate_us);
  }
  std::string operator()(const Measured& o) const {
    return fmt::format("median {:.1f} us of {}", o.timing.median_us, o.timing.sample_count);
  }
};

void check_timing(const Timing& timing) {
  check_kernel_time(timing.median_us, "time_us");
  for (const auto& [name, us] : std::initializer_list<std::pair<const char*, double>>{
           {"mean_us", timing.mean_us},
           {"min_us", timing.min_us},
           {"max_us", timing.max_us},
           {"median_low_us", timing.median_low_us},
           {"median_high_us", timing.median_high_us},
           {"sustained_us", timing.sustained_us}}) {
    if (us != 0.0 && !std::isinf(us)) {
      check_kernel_time(us, name);
    }
  }
  for (std::size_t i = 0; i < timing.samples_us.size(); ++i) {
    check_kernel_time(timing.samples_us[i], fmt::format("samples_us.{}", i));
  }
}

}  // namespace

std::optional<RowMismatches> rows_of(const std::vector<RowMismatches>& rows,
                                     const ErrorStats& stats) {
  const auto found = std::ranges::find(rows, stats.input, &RowMismatches::input);
  return stats.is_of_o() && found != rows.end() ? std::optional(*found) : std::nullopt;
}

std::string_view outcome_name(OutcomeKind kind) {
  static constexpr std::array<std::string_view, 19> kNames{
      "pruned",   "invalid",   "compile_failed", "compiler_crashed", "serialized",  "unlaunchable",
      "crashed",  "timed_out", "wrong_result",   "implausible",      "flagged",     "estimated",
      "measured", "right",     "compiled",       "profiled",         "not_covered", "not_verified",
      "stopped"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string outcome_summary(const Outcome& outcome) { return std::visit(Summary{}, outcome); }

const Verification* verification_of(const Outcome& outcome) {
  return std::visit(
      [](const auto& one) -> const Verification* {
        if constexpr (requires { one.verification; }) {
          return one.verification.inputs.empty() ? nullptr : &one.verification;
        } else {
          return nullptr;
        }
      },
      outcome);
}

std::string_view verified_by(const Outcome& outcome) {
  if (const auto* measured = std::get_if<Measured>(&outcome)) {
    return measured->verification.method.empty() ? "" : "gpu";
  }
  return std::holds_alternative<Estimated>(outcome) && verification_of(outcome) != nullptr
             ? "emulated"
             : "";
}

bool is_ranked(const Outcome& outcome) {
  return std::holds_alternative<Measured>(outcome) || std::holds_alternative<Estimated>(outcome);
}

double ranked_us(const Outcome& outcome) {
  if (const auto* measured = std::get_if<Measured>(&outcome)) {
    return measured->timing.median_us;
  }
  if (const auto* estimated = std::get_if<Estimated>(&outcome)) {
    return estimated->estimate_us;
  }
  throw std::logic_error("ranked_us: the outcome has no time");
}

std::pair<double, double> compared_us(const Outcome& a, const Outcome& b) {
  const auto* const one = std::get_if<Measured>(&a);
  const auto* const other = std::get_if<Measured>(&b);
  const bool sustained = one != nullptr && other != nullptr && one->timing.sustained_us > 0.0 &&
                         other->timing.sustained_us > 0.0;
  return sustained ? std::pair(one->timing.sustained_us, other->timing.sustained_us)
                   : std::pair(ranked_us(a), ranked_us(b));
}

const ErrorStats& tightest_input(const std::vector<ErrorStats>& inputs) {
  const auto slack = [](const ErrorStats& stats) {
    return stats.is_of_o() ? stats.limit - std::max(stats.max_abs_error, stats.max_abs_difference)
                           : std::numeric_limits<double>::infinity();
  };
  return *std::ranges::min_element(inputs, {}, slack);
}

bool is_kernel_time(double us) { return us >= kLeastKernelUs && us <= kMostKernelUs; }

std::string not_a_kernel_time(double us) {
  return fmt::format("{} us is not the time of a kernel", us);
}

const std::string& kernel_times() {
  static const std::string text =
      fmt::format("times are finite and above 0: from {} to {} us", kLeastKernelUs, kMostKernelUs);
  return text;
}

void check_kernel_time(double us, const std::string& where) {
  if (!is_kernel_time(us)) {
    throw Error(ExitCode::bad_file, not_a_kernel_time(us), where, kernel_times());
  }
}

void check_kernel_times(const Outcome& outcome) {
  if (const auto* measured = std::get_if<Measured>(&outcome)) {
    check_timing(measured->timing);
  } else if (const auto* estimated = std::get_if<Estimated>(&outcome)) {
    check_kernel_time(estimated->estimate_us, "time_us");
  }
}

}  // namespace fatune
