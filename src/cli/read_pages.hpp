#pragma once

#include <CLI/CLI.hpp>

#include "manual/command_page.hpp"

namespace fatune {

/// Returns all that the parser accepts and the help shows. `app`: the program or one of its
/// commands.
[[nodiscard]] CommandPage read_pages(const CLI::App& app);

}  // namespace fatune
