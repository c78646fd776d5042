#include "emit/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

#include "emit/destination.hpp"
#include "process/descriptor.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

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

/// Writes all bytes. A signal while it waits for a reader ends the wait with an error: the user
/// wants to stop.
void write_bytes(const Descriptor& file, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0) {
      fail_write(path);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

/// The new content of a file, in a file beside it, so that the rename stays within one file system.
/// The process id keeps two runs apart. The file is removed unless it is put in place.
class Replacement {
 public:
  /// `name` is what the user knows the file by.
  Replacement(const fs::path& file, const fs::path& name)
      : file_(file), name_(name), old_(status_of(file)) {
    temporary_ += ".tmp" + std::to_string(::getpid());
    ::unlink(temporary_.c_str());  // left by a killed process of the same id
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    descriptor_ = Descriptor(::open(temporary_.c_str(), kFlags, old_ ? 0600 : 0666));
    if (descriptor_.get() < 0) {
      fail_write(name_);
    }
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() { ::unlink(temporary_.c_str()); }

  void write(std::string_view bytes) { write_bytes(descriptor_, bytes, name_); }

  void put_in_place() {
    if (old_) {
      keep_attributes();
      // Without this, a power cut after the rename could leave neither the old bytes nor the new.
      if (::fsync(descriptor_.get()) != 0) {
        fail_write(name_);
      }
    }
    if (::rename(temporary_.c_str(), file_.c_str()) != 0) {
      fail_output(name_, "cannot replace", std::strerror(errno));
    }
  }

 private:
  /// Sets the owner first, because a change of owner clears bits of the mode.
  void keep_attributes() const {
    constexpr mode_t kAllBits = 07777;
    const bool owned = ::fchown(descriptor_.get(), old_->st_uid, old_->st_gid) == 0;
    const mode_t kept = owned ? kAllBits : 0777;
    if (::fchmod(descriptor_.get(), old_->st_mode & kept) != 0) {
      fail_write(name_);
    }
  }

  fs::path file_;
  fs::path name_;
  fs::path temporary_ = file_;
  std::optional<struct stat> old_;
  Descriptor descriptor_;
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

}  // namespace

void check_output_file(const fs::path& path) {
  const Destination destination = prepare(path);
  if (destination.kind == Destination::Kind::file) {
    const Replacement made(destination.path, path);
  } else {
    check_stream(destination, path);
  }
}

void write_output_file(const fs::path& path, std::string_view bytes) {
  const Destination destination = prepare(path);
  if (destination.kind != Destination::Kind::file) {
    write_bytes(open_stream(destination, path), bytes, path);
    return;
  }
  Replacement replacement(destination.path, path);
  replacement.write(bytes);
  replacement.put_in_place();
}

bool can_be_rewritten(const fs::path& path) {
  return find_destination(path).kind == Destination::Kind::file;
}

}  // namespace fatune
