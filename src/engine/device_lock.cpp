#include "engine/device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "core/error.hpp"
#include "engine/interrupt.hpp"

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

bool try_lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

/// Asks again and again: a signal need not arrive at this thread.
void wait_for(int descriptor, const std::string& path) {
  constexpr std::chrono::milliseconds kInterval{50};
  while (!try_lock(descriptor)) {
    const int error = errno;
    if (InterruptWatch::interrupted() || error != EWOULDBLOCK) {
      ::close(descriptor);
      throw InterruptWatch::interrupted()
          ? Error(ExitCode::interrupted, "interrupted while waiting for the GPU", path)
          : Error(ExitCode::io, fmt::format("cannot lock: {}", std::strerror(error)), path);
    }
    std::this_thread::sleep_for(kInterval);
  }
}

}  // namespace

DeviceLock::DeviceLock(const std::string& uuid, LockWait wait, const std::function<void()>& on_wait)
    : descriptor_(-1) {
  const std::string path = lock_path(uuid);
  descriptor_ = open_lock_file(path);
  if (descriptor_ < 0) {
    throw Error(ExitCode::io, fmt::format("cannot open: {}", std::strerror(errno)), path,
                "this file keeps two measurements off one GPU; check the folder's permissions");
  }
  if (!try_lock(descriptor_)) {
    if (wait == LockWait::no) {
      ::close(descriptor_);
      throw Error(ExitCode::gpu_busy, "another fatune measures on this GPU", path,
                  "wait for it, leave out --no-wait, or choose another GPU with --device");
    }
    on_wait();
    wait_for(descriptor_, path);
  }
}

DeviceLock::~DeviceLock() { ::close(descriptor_); }

}  // namespace fatune
