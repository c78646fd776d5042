#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

#include "core/task_pool.hpp"

namespace fatune {

/// Calls `work(i)` for each index below `count`, on `jobs` threads. After an exception no further
/// call begins. The first exception is rethrown when all calls have ended.
template <typename Work>
void for_each_index(std::size_t count, int jobs, Work work) {
  std::atomic<bool> failed = false;
  std::exception_ptr failure;  // thrown by the call that set `failed`
  TaskPool pool(jobs);
  for (std::size_t i = 0; i < count; ++i) {
    pool.add([&, i] {
      if (failed) {
        return;
      }
      try {
        work(i);
      } catch (...) {
        if (!failed.exchange(true)) {
          failure = std::current_exception();
        }
      }
    });
  }
  pool.finish();
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace fatune
