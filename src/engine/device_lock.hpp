#pragma once

#include <functional>
#include <string>

#include "process/descriptor.hpp"

namespace fatune {

/// The behaviour while another process measures on the GPU.
enum class LockWait {
  yes,  ///< wait until that process ends
  no,   ///< throw an Error
};

/// Ensures that only one process measures on a GPU. Holds an exclusive lock on a file named after
/// the GPU, in /tmp or the folder that FATUNE_LOCK_DIR names; TMPDIR, which may differ between
/// processes, does not count. The lock is released when this object or the process ends. All users
/// share the file, which is never removed.
class DeviceLock {
 public:
  /// Takes the lock. Waits while another process holds it, and calls `on_wait` once before the
  /// wait. Throws Error(gpu_busy) if it must not wait, Error(interrupted) if the user ends the wait
  /// (interrupt.hpp), Error(io) if the file cannot be opened.
  DeviceLock(const std::string& uuid, LockWait wait, const std::function<void()>& on_wait);

 private:
  Descriptor file_;
};

}  // namespace fatune
