#pragma once

#include <string>

#include "manual/command_page.hpp"

namespace fatune {

/// What the pages' margins say.
struct ManualEdition {
  std::string version;  ///< "0.1.0"
  std::string date;     ///< of the version, "2026-11-23": the same pages from the same sources
};

/// A command's manual page of section 1, in man(7). `program`: the page above all others.
[[nodiscard]] std::string manual_page(const CommandPage& page, const CommandPage& program,
                                      const ManualEdition& edition);

}  // namespace fatune
