#pragma once

#include <string>

#include "manual/command_page.hpp"

namespace fatune {

/// Texts for the margins of the pages.
struct ManualEdition {
  std::string version;  ///< "0.1.0"
  std::string date;     ///< "2026-11-23": of the version, not of the build, for reproducible pages
};

/// A command's manual page of section 1, in man(7). `program`: the topmost page.
[[nodiscard]] std::string manual_page(const CommandPage& page, const CommandPage& program,
                                      const ManualEdition& edition);

}  // namespace fatune
