#include "engine/device_thread.hpp"

#include <utility>

namespace fatune {

DeviceThread::DeviceThread(Make make) : thread_([this, make = std::move(make)] { run(make); }) {}

DeviceThread::~DeviceThread() {
  if (!started_) {
    job_.set_value({});
  }
  release_.set_value();
}

void DeviceThread::run(const Make& make) {
  std::unique_ptr<Evaluator> evaluator;
  try {
    evaluator = make();
  } catch (...) {
    ready_.set_exception(std::current_exception());
    return;
  }
  ready_.set_value(evaluator.get());
  try {
    if (const Job job = job_future_.get()) {
      job(*evaluator);
    }
    done_.set_value();
  } catch (...) {
    done_.set_exception(std::current_exception());
  }
  release_.get_future().wait();
}

const Evaluator& DeviceThread::wait_ready() { return *ready_future_.get(); }

void DeviceThread::start(Job job) {
  started_ = true;
  job_.set_value(std::move(job));
}

void DeviceThread::finish() { done_future_.get(); }

}  // namespace fatune
