#include "measure/gpu_monitor.hpp"

#include <utility>

namespace fatune {
namespace {

constexpr std::chrono::milliseconds kTooOld{500};

}  // namespace

GpuMonitor::Work::Work(GpuMonitor* monitor) : monitor_(monitor) {
  if (monitor_ != nullptr) {
    monitor_->set_busy(true);
  }
}

GpuMonitor::Work::~Work() {
  if (monitor_ != nullptr) {
    monitor_->set_busy(false);
  }
}

GpuMonitor::GpuMonitor(Read read, std::chrono::milliseconds interval)
    : read_(std::move(read)),
      interval_(interval),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void GpuMonitor::set_busy(bool busy) {
  {
    const std::lock_guard lock(mutex_);
    busy_ = busy;
  }
  if (busy) {
    changed_.notify_one();
  }
}

void GpuMonitor::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return busy_; })) {
    lock.unlock();
    const std::optional<GpuReading> reading = read_();
    lock.lock();
    keep(reading);
    changed_.wait_for(lock, stop, interval_, [] { return false; });
  }
}

void GpuMonitor::keep(const std::optional<GpuReading>& reading) {
  latest_ = reading;
  latest_at_ = Clock::now();
  limits_since_ |= reading ? reading->clock_limits : 0;
}

std::optional<GpuReading> GpuMonitor::latest() {
  const std::lock_guard lock(mutex_);
  if (!latest_ || Clock::now() - latest_at_ > kTooOld) {
    return std::nullopt;
  }
  GpuReading reading = *latest_;
  reading.clock_limits |= std::exchange(limits_since_, 0);
  return reading;
}

}  // namespace fatune
