#pragma once

#include <CLI/CLI.hpp>

#include "manual/command_page.hpp"

namespace fatune {

/// All that the parser takes and its help shows. `app`: the program, or one of its commands.
[[nodiscard]] CommandPage read_pages(const CLI::App& app);

}  // namespace fatune
