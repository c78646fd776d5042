#pragma once

#include <filesystem>
#include <string>

namespace fatune {

/// The destination of the bytes that are written to a path.
struct Destination {
  enum class Kind {
    file,        ///< a regular file, or none yet: it can be replaced as a whole
    stream,      ///< a device, a FIFO, a socket: written bytes cannot be replaced
    descriptor,  ///< an open descriptor of this process, as /dev/stdout or /dev/fd/63
  };
  Kind kind = Kind::file;
  std::filesystem::path path;  ///< the file or stream itself, and no symbolic link to it
  int descriptor = -1;
};

/// Follows symbolic links, also to a file that does not exist yet. Throws Error(io) if the system
/// forbids it, the links form a circle, or they lead to a folder.
[[nodiscard]] Destination find_destination(const std::filesystem::path& path);

/// Throws Error(io), which names `path` and says what would be right.
[[noreturn]] void fail_output(const std::filesystem::path& path, const std::string& what,
                              const std::string& why);

}  // namespace fatune
