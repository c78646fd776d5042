#pragma once

#include <chrono>

#include "model/config.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "plan/family.hpp"

namespace fatune {

/// Reads lines from a file descriptor, without blocking longer than a given time.
class LineInput {
 public:
  /// Longer lines are an error, because the writer does not send lines.
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

  explicit LineInput(int descriptor) : descriptor_(descriptor) {}

  /// Returns the next complete line, without its line end. Nothing: none is complete in time, or
  /// the input has ended. Throws Error(io) if the input cannot be read, and Error(usage) for a line
  /// longer than kLongestLine.
  [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds within);
  /// Whether the last line was returned.
  [[nodiscard]] bool ended() const noexcept { return at_end_ && text_.empty(); }

 private:
  [[nodiscard]] std::optional<std::string> take_line();
  void read_some();

  int descriptor_;
  std::string text_;  ///< read, but not returned yet
  bool at_end_ = false;
};

/// The proposal in a line: {"id": any, "config": "(...)"} or {"id": any, "parameters": {...}}.
struct ProposalLine {
  std::string id;  ///< JSON text; "null" if the line has none
  Config config;
};

/// Parses a line. Parameters that are bound to the problem may be left out. Throws Error(usage) for
/// a line that is not such an object, for an unknown or missing property or parameter, and for a
/// configuration that does not parse. It does not check that the family can build the
/// configuration.
[[nodiscard]] ProposalLine read_proposal(const Family& family, const Problem& problem,
                                         std::string_view line);

/// Returns the id of a line as JSON, even if the rest of the line is wrong. "null": it has none.
[[nodiscard]] std::string proposal_id(std::string_view line);

// Lines of `fatune evaluate` (configs/schema/evaluate.schema.json). `id` is JSON text.

/// Says what may be proposed: the problem, and the parameters with their values.
[[nodiscard]] std::string ready_line(const Family& family, const Problem& problem);
/// Reports the outcome of a configuration.
[[nodiscard]] std::string answer_line(const std::string& id, const std::string& short_form,
                                      const Outcome& outcome);
/// Says why a line of input proposes nothing. `line` is its number, from 1.
[[nodiscard]] std::string refusal_line(std::int64_t line, const std::string& id,
                                       const std::string& what, const std::string& remedy);

}  // namespace fatune
