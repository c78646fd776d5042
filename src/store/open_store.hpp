#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "store/database.hpp"

namespace fatune {

inline constexpr std::chrono::milliseconds kBusyTimeout{5000};

/// $XDG_DATA_HOME/fatune/fatune.db, else ~/.local/share/fatune/fatune.db; nothing without either
/// variable (a relative XDG_DATA_HOME does not count).
[[nodiscard]] std::optional<std::filesystem::path> default_store_path();

/// The file that is named, else the default. Error(io) when there is neither.
[[nodiscard]] std::filesystem::path store_path(const std::optional<std::filesystem::path>& named);

/// Opens the database of everything measured, makes or migrates its schema, and checks that the
/// file is whole. With Mode::create it is for writing: writes survive a kill of the process at any
/// moment. With Mode::existing it is for reading, which a network file system allows too.
/// Error(bad_file): damaged, of another program, or of a newer fatune; Error(io): not usable, or
/// to be written on a network file system.
[[nodiscard]] Database open_store(const std::filesystem::path& path, Database::Mode mode,
                                  std::chrono::milliseconds busy_timeout = kBusyTimeout);

}  // namespace fatune
