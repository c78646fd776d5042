#pragma once

#include <functional>
#include <future>
#include <memory>
#include <semaphore>
#include <thread>

#include "engine/evaluator.hpp"

namespace fatune {

/// A thread that owns one evaluator. A worker process dies with the thread that started it, so an
/// evaluator is used only on this thread.
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

  /// Waits until the evaluator is made. It lives as long as this. Throws what `make` threw.
  [[nodiscard]] const Evaluator& wait_ready();
  /// Starts a job. Precondition: wait_ready() has returned, and so has finish() of any earlier job.
  void start(Job job);
  /// Waits for the end of the job. Throws what the job threw.
  void finish();

 private:
  void run(const Make& make);

  std::promise<const Evaluator*> ready_;
  std::future<const Evaluator*> ready_future_ = ready_.get_future();
  std::packaged_task<void(Evaluator&)> job_;  ///< not valid on wake-up: there are no more jobs
  std::binary_semaphore wake_{0};
  std::future<void> done_;
  std::jthread thread_;
};

}  // namespace fatune
