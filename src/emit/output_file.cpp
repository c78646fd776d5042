#include "emit/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "emit/destination.hpp"
#include "process/descriptor.hpp"
#include "process/temporary_file.hpp"

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

}  // namespace fatune
