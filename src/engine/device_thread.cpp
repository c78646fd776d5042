#include "engine/device_thread.hpp"

#include <utility>

namespace fatune {

DeviceThread::DeviceThread(Make make) : thread_([this, make = std::move(make)] { run(make); }) {}

DeviceThread::~DeviceThread() {
  if (done_.valid()) {
    done_.wait();
  }
  wake_.release();
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
  while (true) {
    wake_.acquire();
    auto job = std::move(job_);
    if (!job.valid()) {
      return;
    }
    job(*evaluator);
  }
}

const Evaluator& DeviceThread::wait_ready() { return *ready_future_.get(); }

void DeviceThread::start(Job job) {
  job_ = std::packaged_task<void(Evaluator&)>(std::move(job));
  done_ = job_.get_future();
  wake_.release();
}

void DeviceThread::finish() { done_.get(); }

}  // namespace fatune
