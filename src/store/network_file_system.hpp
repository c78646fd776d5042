#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// Detects file systems that several machines share. They do not give the locks and shared memory
// that SQLite needs (https://www.sqlite.org/faq.html#q5): two machines that write would damage the
// file.
namespace fatune {

/// The name of the network file system that has this number in statfs(2), or else this type in the
/// table of mounts ("fuse.sshfs"; all FUSE systems share one number). Nothing for a local or
/// unknown file system.
[[nodiscard]] std::optional<std::string> network_file_system(std::uint32_t magic,
                                                             std::string_view mount_type);

/// Throws Error(io) with advice if the file is, or would be, on a network file system. Does nothing
/// if the environment variable FATUNE_NETWORK_DB is set.
void refuse_network_file(const std::filesystem::path& path);

}  // namespace fatune
