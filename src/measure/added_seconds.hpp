#pragma once

#include <chrono>

namespace fatune {

/// Adds the time from its making to its end.
class AddedSeconds {
 public:
  explicit AddedSeconds(double& total_s) : total_s_(total_s) {}
  AddedSeconds(const AddedSeconds&) = delete;
  AddedSeconds& operator=(const AddedSeconds&) = delete;
  ~AddedSeconds() { total_s_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  double& total_s_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace fatune
