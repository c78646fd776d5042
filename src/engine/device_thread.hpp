#pragma once

#include <functional>
#include <future>
#include <memory>
#include <semaphore>
#include <thread>

#include "engine/evaluator.hpp"

namespace fatune {

/// A thread that has one evaluator: a worker process dies with the thread that started it, so all
/// that is done with an evaluator is done on its thread.
class DeviceThread {
 public:
  using Make = std::function<std::unique_ptr<Evaluator>()>;
  using Job = std::function<void(Evaluator&)>;

  /// Makes the evaluator on the new thread.
  explicit DeviceThread(Make make);
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;
  /// Waits for the job, if there is one, and destroys the evaluator.
  ~DeviceThread();

  /// Waits until the evaluator is made; it lives as long as this. Throws what making it threw.
  [[nodiscard]] const Evaluator& wait_ready();
  /// After wait_ready(), and after the finish() of an earlier job.
  void start(Job job);
  /// Waits for the job's end. Throws what it threw.
  void finish();

 private:
  void run(const Make& make);

  std::promise<const Evaluator*> ready_;
  std::future<const Evaluator*> ready_future_ = ready_.get_future();
  std::packaged_task<void(Evaluator&)> job_;  ///< not valid when woken: there is no more
  std::binary_semaphore wake_{0};
  std::future<void> done_;
  std::jthread thread_;
};

}  // namespace fatune
