#include "emit/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "core/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what, const std::string& why) {
  throw Error(ExitCode::io, what + ": " + why, path.string(),
              "choose a folder that can be written and has space left");
}

void make_folder_of(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), error);
  }
  if (error) {
    fail(path, "cannot make its folder", error.message());
  }
}

/// Beside the target, so that the rename stays within one file system; the process id keeps two
/// runs apart.
fs::path temporary_for(const fs::path& path) {
  fs::path temporary = path;
  temporary += ".tmp" + std::to_string(::getpid());
  return temporary;
}

/// `path`: what the user knows the file by.
void write_bytes(const fs::path& temporary, std::string_view bytes, const fs::path& path) {
  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    const std::string why = errno != 0 ? std::strerror(errno) : "write failed";
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail(path, "cannot write", why);
  }
}

}  // namespace

void check_output_file(const fs::path& path) {
  make_folder_of(path);
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    fail(path, "cannot replace", "it is a folder");
  }
  const fs::path temporary = temporary_for(path);
  write_bytes(temporary, {}, path);
  fs::remove(temporary, ignored);
}

void write_output_file(const fs::path& path, std::string_view bytes) {
  make_folder_of(path);
  const fs::path temporary = temporary_for(path);
  write_bytes(temporary, bytes, path);
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail(path, "cannot replace", error.message());
  }
}

}  // namespace fatune
