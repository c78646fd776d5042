#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// File systems that several machines share. SQLite needs locks and shared memory that these do not
// give (https://www.sqlite.org/faq.html#q5): two machines that write would damage the file.
namespace fatune {

/// The name of the network file system that statfs(2) gives this number, or that the table of
/// mounts calls so ("fuse.sshfs"; it tells those apart that share the number of FUSE). Nothing for
/// a local one, or one that is not known.
[[nodiscard]] std::optional<std::string> network_file_system(std::uint32_t magic,
                                                             std::string_view mount_type);

/// Error(io), with what to do instead, when the file is, or would be, on a network file system,
/// unless the variable FATUNE_NETWORK_DB is set.
void refuse_network_file(const std::filesystem::path& path);

}  // namespace fatune
