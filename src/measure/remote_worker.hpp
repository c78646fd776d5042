#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "core/device_limits.hpp"
#include "measure/conversation.hpp"
#include "measure/deadlines.hpp"
#include "measure/worker_messages.hpp"
#include "measure/worker_settings.hpp"

namespace fatune {

/// Adds the seconds that it lives to a total.
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

/// The number of workers in a row that may be killed from outside before that counts as a failure.
inline constexpr int kKillsForgiven = 5;

/// Manages one worker process at a time: starts it, has it prepare the problem, replaces it when it
/// has ended, and counts the seconds.
class RemoteWorker {
 public:
  /// Starts a worker. Throws what RemoteMeasurer throws.
  RemoteWorker(WorkerSettings settings, const MeasurePolicy& policy);
  RemoteWorker(const RemoteWorker&) = delete;
  RemoteWorker& operator=(const RemoteWorker&) = delete;
  ~RemoteWorker();  ///< tells the worker to end, and waits

  /// Replaces a worker that has ended. Throws Error(gpu_failure) if none can be started.
  void ensure();
  /// Sets the problem that workers prepare from now on. Throws what Measurer::begin_problem()
  /// throws.
  void begin_problem(ProblemStart start);
  /// The part's share of the present problem's work; 1: it has none.
  [[nodiscard]] double part_share() const;

  [[nodiscard]] bool runs() const { return conversation_ && !conversation_->ended(); }
  /// The conversation with the present worker. Precondition: runs().
  [[nodiscard]] Conversation& conversation() { return *conversation_; }
  /// Whether the last worker was ended from outside.
  [[nodiscard]] bool was_killed() const { return conversation_ && conversation_->was_killed(); }
  /// The number of workers started so far, which is the number of the present one.
  [[nodiscard]] int number() const noexcept { return started_; }

  /// Notes that a candidate is about to be admitted in the present worker.
  void note_admission() { ++admissions_; }
  /// Whether one candidate alone has used the present worker or, if none runs, the last one.
  [[nodiscard]] bool is_used_by_one() const { return admissions_ == 1; }

  [[nodiscard]] Deadlines& deadlines() { return deadlines_; }
  /// The device's limits, with the free memory that the first worker reported.
  [[nodiscard]] const DeviceLimits& limits() const { return limits_.value(); }
  /// Adds to busy_s() as long as the returned object lives.
  [[nodiscard]] AddedSeconds busy() { return AddedSeconds(busy_s_); }
  [[nodiscard]] double busy_s() const noexcept { return busy_s_; }
  [[nodiscard]] double start_s() const noexcept { return start_s_; }

 private:
  void start();
  void start_problem();

  WorkerSettings settings_;
  MeasurePolicy policy_;
  Deadlines deadlines_;
  std::optional<DeviceLimits> limits_;
  std::optional<ProblemStart> problem_;
  std::unique_ptr<Conversation> conversation_;
  int started_ = 0;
  int admissions_ = 0;  // how many the present worker has made
  double busy_s_ = 0.0;
  double start_s_ = 0.0;
};

}  // namespace fatune
