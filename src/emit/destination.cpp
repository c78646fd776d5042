#include "emit/destination.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "core/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

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
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
  return failure == std::errc() && end == name.data() + name.size() ? std::optional(number)
                                                                    : std::nullopt;
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

}  // namespace

Destination find_destination(const fs::path& path) {
  std::error_code ignored;
  if (!path.has_filename() || fs::is_directory(path, ignored)) {
    fail_output(path, "cannot replace", "it is a folder");
  }
  check_links(path);
  return follow(path);
}

void fail_output(const fs::path& path, const std::string& what, const std::string& why) {
  throw Error(ExitCode::io, what + ": " + why, path.string(),
              "choose a folder that is writable and has space left");
}

}  // namespace fatune
