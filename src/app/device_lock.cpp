#include "app/device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

/// Opening first, creating second: in a sticky folder the kernel refuses to "create" a file that
/// another user already has there. Never through a symbolic link.
int open_lock_file(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
  const int existing = ::open(path.c_str(), kFlags);
  return existing >= 0 ? existing : ::open(path.c_str(), kFlags | O_CREAT, 0644);
}

std::string lock_path(const std::string& uuid) {
  std::string name = "fatune-";
  for (const char c : uuid) {
    const bool plain = (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '-';
    name += plain ? c : '_';
  }
  return (std::filesystem::temp_directory_path() / (name + ".lock")).string();
}

void wait_for(int descriptor, const std::string& path) {
  if (::flock(descriptor, LOCK_EX) != 0) {
    const int error = errno;
    ::close(descriptor);
    throw Error(error == EINTR ? ExitCode::interrupted : ExitCode::io,
                fmt::format("cannot lock: {}", std::strerror(error)), path);
  }
}

}  // namespace

DeviceLock::DeviceLock(const std::string& uuid, const std::function<void()>& on_wait)
    : descriptor_(-1) {
  const std::string path = lock_path(uuid);
  descriptor_ = open_lock_file(path);
  if (descriptor_ < 0) {
    throw Error(ExitCode::io, fmt::format("cannot open: {}", std::strerror(errno)), path,
                "this file keeps two measurements off one GPU; check the folder's permissions");
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    on_wait();
    wait_for(descriptor_, path);
  }
}

DeviceLock::~DeviceLock() { ::close(descriptor_); }

}  // namespace fatune
