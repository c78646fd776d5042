#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "process/descriptor.hpp"

namespace fatune {

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

}  // namespace fatune
