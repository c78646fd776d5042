#pragma once

#include <stdexcept>
#include <string>

namespace fatune {

/// Every way the process can end; docs/reference.md says what each means. The numbers are part of
/// the command line's contract; never renumber.
enum class ExitCode : int {
  ok = 0,
  internal = 1,
  usage = 2,
  bad_file = 3,
  no_gpu = 4,
  nothing_ranked = 5,
  failed_outcomes = 6,
  io = 7,
  too_large = 8,
  gpu_failure = 9,
  gpu_busy = 10,
  beaten = 11,
  worse = 12,
  undecided = 13,
  incomplete = 14,
  interrupted = 130,
};

/// Ends the command. `what()` is the whole message a user reads: what was wrong, where, and what
/// would be right. A configuration that fails is not an Error but an Outcome.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what_was_wrong, const std::string& where = {},
        const std::string& remedy = {});

  [[nodiscard]] ExitCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& what_was_wrong() const noexcept { return what_was_wrong_; }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  ExitCode code_;
  std::string what_was_wrong_;
  std::string where_;
  std::string remedy_;
};

}  // namespace fatune
