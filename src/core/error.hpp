#pragma once

#include <stdexcept>
#include <string>

#include "core/exit_code.hpp"

namespace fatune {

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
