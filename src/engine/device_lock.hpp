#pragma once

#include <functional>
#include <string>

#include "process/descriptor.hpp"

namespace fatune {

/// The behaviour while another process measures on the GPU.
enum class LockWait {
  yes,  ///< wait until it ends
  no,   ///< end with an Error
};

/// One measuring process per GPU: an exclusive lock on a file named after the GPU, in the system's
/// folder for temporary files, released when this dies (or the process does). All users share the
/// file, and it stays.
class DeviceLock {
 public:
  /// Waits while another process holds it; `on_wait` is called once before. Error(gpu_busy) where
  /// it may not wait, Error(interrupted) when the user ends the wait (interrupt.hpp), Error(io)
  /// when the file cannot be opened.
  DeviceLock(const std::string& uuid, LockWait wait, const std::function<void()>& on_wait);

 private:
  Descriptor file_;
};

}  // namespace fatune
