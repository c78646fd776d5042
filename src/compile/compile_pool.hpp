#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "compile/compiler.hpp"

namespace fatune {

/// One finished request. Identical requests share one result.
struct Compiled {
  std::size_t index = 0;  ///< into the requests
  std::shared_ptr<const CompileResult> result;
};

struct CompilePoolSettings {
  int jobs = 1;  ///< threads that compile; at least 1
  /// Finished results that may wait for the consumer; 0: twice the jobs. Workers pause when it is
  /// reached, so that host memory does not grow with the space.
  std::size_t max_waiting = 0;
};

/// Compiles many requests on several threads and hands them over as they finish, so that measuring
/// the first overlaps with compiling the rest. Work starts in the constructor, in request order.
/// Requests with the same artifact_key are compiled once. An exception in a worker becomes
/// CompileFailed. next() and cancel() may be called from different threads.
class CompilePool {
 public:
  using CompileFunction = std::function<CompileResult(const CompileRequest&)>;

  CompilePool(std::vector<CompileRequest> requests, CompileFunction compile_one,
              CompilePoolSettings settings);
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;
  CompilePool(CompilePool&&) = delete;
  CompilePool& operator=(CompilePool&&) = delete;
  ~CompilePool();  ///< cancels, then waits for the compilations under way

  /// Waits for the next finished request; nothing once all were handed over, or after cancel().
  [[nodiscard]] std::optional<Compiled> next();
  /// No further compilation starts; those under way finish (they cannot be interrupted) and are
  /// dropped.
  void cancel();

  [[nodiscard]] std::size_t distinct() const noexcept { return groups_.size(); }

 private:
  using Group = std::vector<std::size_t>;  ///< indices of requests with one key

  void work();
  [[nodiscard]] std::size_t claim();  ///< a group's index; their number when none is left
  void hand_over(std::size_t group, const std::shared_ptr<const CompileResult>& result);

  const std::vector<CompileRequest> requests_;
  const CompileFunction compile_one_;
  const std::size_t max_waiting_;
  std::vector<Group> groups_;

  std::mutex mutex_;
  std::condition_variable finished_;  ///< something waits for the consumer, or nothing will
  std::condition_variable room_;      ///< the consumer took something
  std::deque<Compiled> waiting_;
  std::size_t next_group_ = 0;
  std::size_t handed_over_ = 0;
  bool cancelled_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace fatune
