#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "core/gpu_reading.hpp"

namespace fatune {

/// Reads the GPU's management library on a separate thread, so that no sample waits for it, and
/// only while work is under way.
class GpuMonitor {
 public:
  using Clock = std::chrono::steady_clock;
  using Read = std::function<std::optional<GpuReading>()>;

  /// `read` is called on the monitor's thread alone, and must not throw.
  explicit GpuMonitor(Read read,
                      std::chrono::milliseconds interval = std::chrono::milliseconds(20));

  /// Work is under way while an object of this class lives. One at a time.
  class Work {
   public:
    explicit Work(GpuMonitor* monitor);  ///< null: nothing is read
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work();

   private:
    GpuMonitor* monitor_;
  };

  /// The last reading, with the clock limits of all readings since the last call. Empty: it is too
  /// old. Does not wait for a reading.
  [[nodiscard]] std::optional<GpuReading> latest();

 private:
  void set_busy(bool busy);
  void watch(const std::stop_token& stop);
  void keep(const std::optional<GpuReading>& reading);

  Read read_;
  std::chrono::milliseconds interval_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable_any changed_;
  bool busy_ = false;
  std::optional<GpuReading> latest_;
  Clock::time_point latest_at_;
  std::uint32_t limits_since_ = 0;
  std::jthread thread_;  // must be last: it uses the other members
};

}  // namespace fatune
