#pragma once

#include <cstddef>

namespace fatune {

/// How far a command got through its list.
struct Coverage {
  std::size_t done = 0;
  std::size_t planned = 0;
  bool complete = true;  ///< false: the user has interrupted it
};

}  // namespace fatune
