#pragma once

#include <cstddef>
#include <string>

namespace fatune {

/// How far a command got through its list.
struct Coverage {
  std::size_t done = 0;
  std::size_t planned = 0;
  bool complete = true;  ///< false: the user has interrupted it
};

/// The text in tables and Markdown about an interrupted list; empty when it was not interrupted.
/// JSON says "complete".
[[nodiscard]] std::string incomplete_text(const Coverage& coverage);

}  // namespace fatune
