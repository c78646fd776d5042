#include "print/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bit>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

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

[[noreturn]] void fail_output(const fs::path& path, const std::string& what,
                              const std::string& why) {
  throw Error(ExitCode::io, what + ": " + why, path.string(),
              "choose a folder that is writable and has space left");
}

/// Lets the system follow the links first: it refuses those that it must not follow (a stranger's
/// link in a sticky folder), and finds circles.
void check_links(const fs::path& path) {
  struct stat ignored {};
  if (::stat(path.c_str(), &ignored) != 0 && errno != ENOENT) {
    fail_output(path, "cannot write", std::strerror(errno));
  }
}

/// The number of this process' descriptor that the path names; nothing for any other path.
std::optional<int> descriptor_of(const fs::path& path) {
  std::error_code error;
  if (!fs::equivalent(path.parent_path(), "/proc/self/fd", error) || error) {
    return std::nullopt;
  }
  return whole_number<int>(path.filename().string());
}

Destination destination_of(const fs::path& path, const fs::file_status& status) {
  const bool file = fs::is_regular_file(status) || !fs::exists(status);
  return {file ? Destination::Kind::file : Destination::Kind::stream, path, -1};
}

/// The target of a link. A relative target is taken from the link's folder.
fs::path next_of(const fs::path& link) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error) {
    fail_output(link, "cannot follow", error.message());
  }
  return link.parent_path() / target;
}

Destination follow(fs::path path) {
  for (;;) {
    if (const auto number = descriptor_of(path)) {
      return {Destination::Kind::descriptor, path, *number};
    }
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (!fs::is_symlink(status)) {
      return destination_of(path, status);
    }
    path = next_of(path);
  }
}

/// Follows symbolic links, also to a file that does not exist yet. Throws Error(io) if the system
/// forbids it, the links form a circle, or they lead to a folder.
Destination find_destination(const fs::path& path) {
  std::error_code ignored;
  if (!path.has_filename() || fs::is_directory(path, ignored)) {
    fail_output(path, "cannot replace", "it is a folder");
  }
  check_links(path);
  return follow(path);
}

[[noreturn]] void fail_write(const fs::path& path) {
  fail_output(path, "cannot write", std::strerror(errno));
}

void make_folder_of(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
  }
  if (error) {
    fail_output(path, "cannot make its folder", error.message());
  }
}

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

/// The new content of a file, which keeps the file's attributes.
class Replacement {
 public:
  /// `name` is what the user knows the file by.
  Replacement(const fs::path& file, const fs::path& name)
      : name_(name), old_(status_of(file)), temporary_(file, old_ ? 0600 : 0666) {
    if (!temporary_.is_open()) {
      fail_write(name_);
    }
  }

  void write(std::string_view bytes) {
    if (!temporary_.write(bytes)) {
      fail_write(name_);
    }
  }

  void put_in_place() {
    if (old_) {
      keep_attributes();
      // Without this, a power cut after the rename could leave neither the old bytes nor the new.
      if (::fsync(temporary_.descriptor()) != 0) {
        fail_write(name_);
      }
    }
    if (!temporary_.put_in_place()) {
      fail_output(name_, "cannot replace", std::strerror(errno));
    }
  }

 private:
  /// Sets the owner first, because a change of owner clears bits of the mode.
  void keep_attributes() const {
    constexpr mode_t kAllBits = 07777;
    const bool owned = ::fchown(temporary_.descriptor(), old_->st_uid, old_->st_gid) == 0;
    const mode_t kept = owned ? kAllBits : 0777;
    if (::fchmod(temporary_.descriptor(), old_->st_mode & kept) != 0) {
      fail_write(name_);
    }
  }

  fs::path name_;
  std::optional<struct stat> old_;
  TemporaryFile temporary_;
};

/// Opens a stream. Never creates it, and never makes it the controlling terminal.
Descriptor open_stream(const Destination& stream, const fs::path& path) {
  Descriptor opened(stream.kind == Destination::Kind::descriptor
                        ? ::fcntl(stream.descriptor, F_DUPFD_CLOEXEC, 0)
                        : ::open(stream.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (opened.get() < 0) {
    fail_write(path);
  }
  return opened;
}

/// Does not open the stream: opening a FIFO would wait for a reader, or end the one that it has.
void check_stream(const Destination& stream, const fs::path& path) {
  if (stream.kind == Destination::Kind::descriptor) {
    const int flags = ::fcntl(stream.descriptor, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
      errno = EBADF;
      fail_write(path);
    }
  } else if (fs::is_socket(stream.path)) {
    fail_output(path, "cannot write", "it is a socket");
  } else if (::access(stream.path.c_str(), W_OK) != 0) {
    fail_write(path);
  }
}

Destination prepare(const fs::path& path) {
  make_folder_of(path);
  Destination destination = find_destination(path);
  if (destination.kind == Destination::Kind::file) {
    make_folder_of(destination.path);
  }
  return destination;
}

static_assert(std::endian::native == std::endian::little);

// Magic, version, and a dictionary padded so that the data begins at a multiple of 64 bytes.
std::string header(const char* type, const std::vector<std::int64_t>& extents) {
  constexpr std::size_t kPrefixBytes = 10;
  constexpr std::size_t kAlignment = 64;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                 type, fmt::join(extents, ", "));
  const std::size_t used = (kPrefixBytes + text.size() + 1) % kAlignment;
  text += std::string((kAlignment - used) % kAlignment, ' ') + '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(text.size() & 0xff);
  bytes += static_cast<char>(text.size() >> 8);
  return bytes + text;
}

template <typename T>
std::string npy(const char* type, const std::vector<std::int64_t>& extents,
                std::span<const double> values) {
  std::string bytes = header(type, extents);
  const std::size_t first = bytes.size();
  bytes.resize(first + values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + first + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

}  // namespace

void check_output_file(const fs::path& path) {
  const Destination destination = prepare(path);
  if (destination.kind == Destination::Kind::file) {
    const Replacement made(destination.path, path);
    remove_stale_temporaries(destination.path.parent_path());
  } else {
    check_stream(destination, path);
  }
}

void write_output_file(const fs::path& path, std::string_view bytes) {
  const Destination destination = prepare(path);
  if (destination.kind != Destination::Kind::file) {
    // A signal ends the wait for a reader: the user wants to stop.
    if (!write_all(open_stream(destination, path).get(), bytes)) {
      fail_write(path);
    }
    return;
  }
  Replacement replacement(destination.path, path);
  replacement.write(bytes);
  replacement.put_in_place();
}

bool can_be_rewritten(const fs::path& path) {
  return find_destination(path).kind == Destination::Kind::file;
}

std::string npy_float64(const std::vector<std::int64_t>& extents, std::span<const double> values) {
  return npy<double>("<f8", extents, values);
}

std::string npy_float32(const std::vector<std::int64_t>& extents, std::span<const double> values) {
  return npy<float>("<f4", extents, values);
}

}  // namespace fatune
