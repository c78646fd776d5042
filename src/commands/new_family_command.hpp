#pragma once

#include <filesystem>

#include "app/option_groups.hpp"
#include "core/exit_code.hpp"

namespace fatune {

struct NewFamilyOptions {
  std::filesystem::path folder;  ///< its name becomes the family's
  OutputOptions output;
};

/// Writes a small kernel family to a folder: a kernel that is right, its family.json and its space.
/// Throws Error(usage) for a name that a family cannot have, and Error(io) if a file exists already
/// or cannot be written.
[[nodiscard]] ExitCode new_family(const NewFamilyOptions& options);

}  // namespace fatune
