#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace fatune {

/// Calls `work(i)` for each index below `count`, on `jobs` threads; the first exception is thrown
/// when all have ended.
template <typename Work>
void for_each_index(std::size_t count, int jobs, Work work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(jobs));
  std::vector<std::jthread> threads;
  for (std::exception_ptr& failure : failures) {
    threads.emplace_back([&] {
      try {
        for (std::size_t i = next++; i < count; i = next++) {
          work(i);
        }
      } catch (...) {
        failure = std::current_exception();
        next = count;
      }
    });
  }
  threads.clear();
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

}  // namespace fatune
