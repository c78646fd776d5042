#pragma once

#include <functional>
#include <future>
#include <memory>
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
  /// After wait_ready(), once.
  void start(Job job);
  /// Waits for the job's end. Throws what it threw.
  void finish();

 private:
  void run(const Make& make);

  std::promise<const Evaluator*> ready_;
  std::promise<Job> job_;
  std::promise<void> done_;
  std::promise<void> release_;
  std::future<const Evaluator*> ready_future_ = ready_.get_future();
  std::future<Job> job_future_ = job_.get_future();
  std::future<void> done_future_ = done_.get_future();
  bool started_ = false;
  std::jthread thread_;
};

}  // namespace fatune
