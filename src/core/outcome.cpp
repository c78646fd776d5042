#include "core/outcome.hpp"

#include <algorithm>

#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/outcome_text.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kNoResultWithin = "no result within ";
constexpr std::string_view kNotBelieved = " us cannot be believed: ";

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
    return fmt::format("{}{:.0f} ms", kNoResultWithin, o.deadline_ms);
  }
  std::string operator()(const WrongResult& o) const { return o.finding; }
  std::string operator()(const Implausible& o) const {
    return fmt::format("{:.3g}{}{}", o.time_us, kNotBelieved, o.reason);
  }
  std::string operator()(const Flagged& o) const { return o.finding; }
  std::string operator()(const Estimated& o) const {
    return fmt::format("estimated {:.1f} us (not measured)", o.estimate_us);
  }
  std::string operator()(const Measured& o) const {
    return fmt::format("median {:.1f} us of {}", o.timing.median_us, o.timing.samples_us.size());
  }
};

/// Reads the text that Summary makes of an alternative back into it.
struct ReadSummary {
  std::string_view summary;

  void operator()(Pruned& o) const { read_rule(o.rule, o.reason); }
  void operator()(Invalid& o) const { read_rule(o.rule, o.reason); }
  void operator()(CompileFailed& o) const { o.log = summary; }
  void operator()(CompilerCrashed& o) const { o.reason = summary; }
  void operator()(Serialized& o) const { o.reason = summary; }
  void operator()(Unlaunchable& o) const { o.limit = summary; }
  void operator()(Crashed& o) const { o.error = summary; }
  void operator()(TimedOut& o) const {
    o.deadline_ms = number(between(summary, kNoResultWithin, " ms"));
  }
  void operator()(WrongResult& o) const { o.finding = summary; }
  void operator()(Implausible& o) const {
    const std::size_t end = summary.find(kNotBelieved);
    if (end == std::string_view::npos) {
      refuse();
    }
    o.time_us = number(summary.substr(0, end));
    o.reason = summary.substr(end + kNotBelieved.size());
  }
  void operator()(Flagged& o) const { o.finding = summary; }
  void operator()(Estimated& /*ranked*/) const { refuse(); }
  void operator()(Measured& /*ranked*/) const { refuse(); }

 private:
  void read_rule(std::string& rule, std::string& reason) const {
    const std::size_t end = summary.find(": ");
    if (end == std::string_view::npos) {
      refuse();
    }
    rule = summary.substr(0, end);
    reason = summary.substr(end + 2);
  }

  [[nodiscard]] double number(std::string_view text) const {
    const auto value = whole_number<double>(text);
    if (!value) {
      refuse();
    }
    return *value;
  }

  [[noreturn]] void refuse() const {
    throw Error(ExitCode::bad_file,
                fmt::format("'{}' is not a valid summary of its outcome", summary));
  }
};

template <std::size_t kIndex = 0>
Outcome outcome_named(std::string_view name) {
  if constexpr (kIndex == std::variant_size_v<Outcome>) {
    throw Error(ExitCode::bad_file, fmt::format("there is no outcome '{}'", name));
  } else {
    Outcome outcome{std::in_place_index<kIndex>};
    return outcome_name(outcome) == name ? outcome : outcome_named<kIndex + 1>(name);
  }
}

}  // namespace

std::optional<RowMismatches> rows_of(const std::vector<RowMismatches>& rows,
                                     const ErrorStats& stats) {
  const auto found = std::ranges::find(rows, stats.input, &RowMismatches::input);
  return stats.is_of_o() && found != rows.end() ? std::optional(*found) : std::nullopt;
}

OutcomeKind outcome_kind(const Outcome& outcome) {
  return static_cast<OutcomeKind>(outcome.index());
}

bool is_without_code(OutcomeKind kind) {
  return kind == OutcomeKind::compile_failed || kind == OutcomeKind::compiler_crashed;
}

std::string_view outcome_name(OutcomeKind kind) {
  static constexpr std::array<std::string_view, 19> kNames{
      "pruned",   "invalid",   "compile_failed", "compiler_crashed", "serialized",  "unlaunchable",
      "crashed",  "timed_out", "wrong_result",   "implausible",      "flagged",     "estimated",
      "measured", "right",     "compiled",       "profiled",         "not_covered", "not_verified",
      "stopped"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view outcome_name(const Outcome& outcome) {
  return outcome_name(outcome_kind(outcome));
}

std::string outcome_summary(const Outcome& outcome) { return std::visit(Summary{}, outcome); }

Outcome read_failure(std::string_view name, const std::string& summary) {
  Outcome outcome = outcome_named(name);
  std::visit(ReadSummary{summary}, outcome);
  return outcome;
}

const Verification* verification_of(const Outcome& outcome) {
  const Verification* verification = nullptr;
  if (const auto* measured = std::get_if<Measured>(&outcome)) {
    verification = &measured->verification;
  } else if (const auto* estimated = std::get_if<Estimated>(&outcome)) {
    verification = &estimated->verification;
  } else if (const auto* wrong = std::get_if<WrongResult>(&outcome)) {
    verification = &wrong->verification;
  } else if (const auto* flagged = std::get_if<Flagged>(&outcome)) {
    verification = &flagged->verification;
  }
  return verification == nullptr || verification->inputs.empty() ? nullptr : verification;
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

}  // namespace fatune
