#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <filesystem>
#include <string_view>
#include <utility>

namespace fatune {

/// A file descriptor with an owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
  void close() noexcept {
    if (number_ >= 0) {
      ::close(release());
    }
  }

 private:
  int number_;
};

/// Makes standard input, output and error safe to use, whatever the parent has left of them. A
/// closed stream becomes /dev/null: otherwise, a file that is opened later would get its number,
/// and fatune's texts. Standard output is then not open for writing, so that its writer notices. If
/// the reader has gone away, a write fails and the program continues.
void secure_standard_streams();

/// Ends the program as a write to a pipe without a reader does by default.
void end_by_broken_pipe();

/// The new content of a file, in a file beside it, so that the rename stays within one file system.
/// Its name is random: threads, processes and containers that share the folder do not meet, and
/// nobody can put a link in its way. It is removed unless it is put in place. Functions that return
/// false leave the reason in errno.
class TemporaryFile {
 public:
  /// `mode`: as for open(2). The folder must exist.
  TemporaryFile(std::filesystem::path target, mode_t mode);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] bool is_open() const { return file_.get() >= 0; }
  [[nodiscard]] int descriptor() const { return file_.get(); }
  [[nodiscard]] bool write(std::string_view bytes);
  [[nodiscard]] bool put_in_place();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  Descriptor file_;
};

/// Writes all bytes. A signal ends the write with an error. Returns false, and leaves the reason in
/// errno.
[[nodiscard]] bool write_all(int descriptor, std::string_view bytes);

/// Removes the temporary files that killed processes left in the folder more than an hour ago.
void remove_stale_temporaries(const std::filesystem::path& folder);

/// A new folder among the system's temporary files. The destructor removes it with its content.
class ScratchFolder {
 public:
  /// Throws Error(io) if it cannot be made.
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace fatune
