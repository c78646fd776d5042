#pragma once

#include <cstddef>
#include <string>

#include "manual/command_page.hpp"

namespace fatune {

/// How much of a command with many options its help describes.
enum class HelpExtent {
  common,  ///< its common options; the others are only named
  all,
};

/// The help of a command, wrapped to `columns` (at least 20) columns. Examples, and what is typed,
/// stay as they are.
[[nodiscard]] std::string help_text(const CommandPage& page, HelpExtent extent,
                                    std::size_t columns);

}  // namespace fatune
