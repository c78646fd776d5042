#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>

#include "store/database.hpp"

namespace fatune {

inline constexpr std::chrono::milliseconds kBusyTimeout{5000};

/// Whether a type in the table of mounts ("nfs4", "fuse.sshfs") is that of a file system that
/// several machines share. These do not give the locks and shared memory that SQLite needs
/// (https://www.sqlite.org/faq.html#q5): two machines that write would damage the file.
[[nodiscard]] bool is_network_file_system(std::string_view mount_type);

/// Returns $XDG_DATA_HOME/fatune/fatune.db, else ~/.local/share/fatune/fatune.db. Returns nothing
/// if neither variable is set (a relative XDG_DATA_HOME does not count).
[[nodiscard]] std::optional<std::filesystem::path> default_store_path();

/// Returns the named file, else the default. Throws Error(io) if there is neither.
[[nodiscard]] std::filesystem::path store_path(const std::optional<std::filesystem::path>& named);

/// Checks that a store can be kept there. Throws Error(usage) if it would be no file, and Error(io)
/// if it is, or would be, on a network file system.
void check_store_file(const std::filesystem::path& path);

/// Opens the database of everything measured, makes its tables if there are none, and checks that
/// the file is intact. Mode::create opens it for writing: writes survive a kill of the process at
/// any moment. Mode::existing opens it for reading, which is also allowed on a network file system,
/// and possible where nothing can be written; an empty file stays empty. Throws Error(bad_file) if
/// the file is damaged, of another format, or another program's. Throws Error(io) if it cannot be
/// used, or would be written on a network file system, and Error(usage) if it would be no file.
[[nodiscard]] Database open_store(const std::filesystem::path& path, Database::Mode mode,
                                  std::chrono::milliseconds busy_timeout = kBusyTimeout);

/// False if the file has no tables yet. Throws Error(bad_file) if it belongs to another program, or
/// if its format (PRAGMA user_version) is not the one that docs/store.md describes.
[[nodiscard]] bool has_schema(Database& database);

/// Makes the tables in a file that has none, in one transaction. Throws as has_schema() does.
void make_schema(Database& database);

}  // namespace fatune
