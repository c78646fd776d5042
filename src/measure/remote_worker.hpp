#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/worker_process.hpp"
#include "measure/memory_plan.hpp"
#include "measure/worker_messages.hpp"
#include "model/device_limits.hpp"
#include "model/input_kind.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"

namespace fatune {

/// The settings behind the deadlines.
struct DeadlineSettings {
  std::chrono::milliseconds start{30'000};     ///< limit for a worker to open its GPU
  std::chrono::milliseconds problem{120'000};  ///< limit for making inputs and references
  std::chrono::milliseconds floor{5'000};      ///< the least deadline for measuring
  double times_best = 50.0;  ///< a run may take this many times the best sample so far
  std::chrono::milliseconds counting{60'000};  ///< limit for preparing counters and a warm chip
  /// The least rate at which an SM computes references. One of an H100 exceeds 0.1 TFLOP/s: with 8
  /// heads of 128 and one query, a million keys take 3.2 s in all for at least five references
  /// (2026-11-26).
  double reference_flop_per_us = 0.03e6;
};

/// How long each step of measuring may take before the watchdog calls it hung. A deadline consists
/// of a floor for all but the kernel (loading, comparing with references, a busy host) and, for
/// each run of the kernel, a multiple of the best sample of the problem. Before there is a sample,
/// each run may take as long as the problem takes at half a TFLOP/s, which any tensor-core kernel
/// exceeds a hundredfold. Steps that may have to compute references get time for that too: one
/// block computes a row of them from first to last key, however few rows there are.
class Deadlines {
 public:
  explicit Deadlines(DeadlineSettings settings) : settings_(settings) {}

  /// `sm_count`: that of the device; below 1 it counts as 1.
  void begin_problem(const Problem& problem, int sm_count);
  void saw_sample(double sample_us) {
    best_us_ = best_us_ == 0.0 ? sample_us : std::min(best_us_, sample_us);
    allowance_us_ = settings_.times_best * best_us_;
  }

  [[nodiscard]] std::chrono::milliseconds start() const { return settings_.start; }
  [[nodiscard]] std::chrono::milliseconds problem() const {
    return settings_.problem + references();
  }
  /// The time for the references that one request may need: those of kReferencesAtOnce kinds or
  /// sets of inputs, on a device whose SMs are as slow as the settings say.
  [[nodiscard]] std::chrono::milliseconds references() const;
  [[nodiscard]] std::chrono::milliseconds runs(int count) const {
    return within(std::max(1, count));
  }
  /// The deadline for one sample, or for checking one again. The first run of a candidate on a set
  /// of inputs may need references.
  [[nodiscard]] std::chrono::milliseconds sample() const { return runs(1) + references(); }
  /// The deadline for `runs` runs under hardware counters, each of them in many passes.
  [[nodiscard]] std::chrono::milliseconds counting(int runs) const {
    constexpr double kPasses = 50.0;
    return settings_.counting + within(kPasses * std::max(1, runs));
  }
  /// The deadline for one run on the problem, and one on its probe problem for each kind of input,
  /// with the references for them.
  [[nodiscard]] std::chrono::milliseconds verification() const;

  /// A problem begins with the sets of inputs on itself and on its part. That is more than the
  /// kinds of input that an admission may have to make.
  static constexpr int kReferencesAtOnce = 2 * kInputSets;

 private:
  [[nodiscard]] std::chrono::milliseconds within(double runs) const {
    const std::chrono::duration<double, std::micro> allowed(allowance_us_ * runs);
    return settings_.floor + std::chrono::ceil<std::chrono::milliseconds>(allowed);
  }

  DeadlineSettings settings_;
  double allowance_us_ = 0.0;  // one run's allowance
  double best_us_ = 0.0;       // 0: none yet
  double probe_share_ = 1.0;   // work of a run on the probe problem over one on the problem
  std::size_t probe_kinds_ = kMostProbeKinds;  // kinds of input on it
  double reference_us_ = 0.0;  // the allowance for the references of one set of inputs
};

/// Deadlines for a worker that runs under a profiler or a sanitizer, where kernels may take a
/// thousand times as long.
[[nodiscard]] DeadlineSettings under_tool(const DeadlineSettings& settings);

/// The defaults. If the environment has FATUNE_WATCHDOG_S, `floor` is that many seconds, and
/// `start` and `problem` are at least that. Throws Error(usage) if it is no positive number.
[[nodiscard]] DeadlineSettings deadline_settings_from_environment();

struct WorkerSettings {
  WorkerCommand command;  ///< this program itself, or a test's
  int device_ordinal = 0;
  DeadlineSettings deadlines;
  bool count_rows = false;  ///< verifications say which rows are wrong
};

/// Settings for a worker that runs this program, or the one that FATUNE_WORKER names, under
/// `launcher` (WorkerCommand) unless that is empty. Deadlines are those of the environment, longer
/// under a launcher. Throws Error(usage) if the environment has an invalid value.
[[nodiscard]] WorkerSettings worker_settings(int device_ordinal,
                                             const std::vector<std::string>& launcher = {});

/// The worker process ended, or was ended, without an answer. The outcome is Crashed or TimedOut.
struct Death {
  Outcome outcome;
};
using Reply = std::variant<Message, Death>;

/// Sends requests to one worker process and receives its answers. A worker that dies, hangs or
/// sends nonsense is ended. Precondition of all calls but ended() and was_killed(): not ended().
class Conversation {
 public:
  /// Starts the worker. Throws what WorkerProcess throws.
  explicit Conversation(const WorkerCommand& command)
      : has_launcher_(!command.launcher.empty()),
        process_(std::make_unique<WorkerProcess>(command)) {}

  [[nodiscard]] bool ended() const noexcept { return process_ == nullptr; }
  /// Whether the worker was ended from outside (WorkerEnd::killed_by_others).
  [[nodiscard]] bool was_killed() const noexcept { return killed_; }

  [[nodiscard]] Reply ask(const Message& request, std::chrono::milliseconds within);
  /// Sends a request without waiting for its answer. Answers to earlier requests come first.
  [[nodiscard]] std::optional<Death> tell(const Message& request, std::chrono::milliseconds within);
  /// Waits for the next answer: another one to the last request, or the one to what tell() sent.
  [[nodiscard]] Reply await(std::chrono::milliseconds within);

  /// Returns the result of `read` for an answer of this type. Any other answer is a failure: the
  /// candidate's if the worker has rejected it, else the worker's.
  template <typename Read>
  [[nodiscard]] auto read_reply(Reply reply, std::string_view type, Read read)
      -> std::variant<std::invoke_result_t<Read, const Message&>, Outcome> {
    if (auto* death = std::get_if<Death>(&reply)) {
      return std::move(death->outcome);
    }
    const auto& message = std::get<Message>(reply);
    if (type_of(message) != type) {
      return failure_of(message);
    }
    try {
      return read(message);
    } catch (const ProtocolError& error) {
      return nonsense(error.what());
    }
  }

  /// Ends the worker because of an unexpected answer.
  [[nodiscard]] Outcome unexpected(const Message& message);
  /// Ends the worker because of an answer that cannot be read.
  [[nodiscard]] Outcome nonsense(const std::string& what);
  /// Tells the worker to end, and waits.
  void finish();
  /// Kills the worker, if it has not ended.
  void drop() { process_.reset(); }
  /// Excludes what the worker has printed so far from later failures.
  void forget_output() { process_->forget_output(); }

 private:
  [[nodiscard]] Outcome failure_of(const Message& message);
  [[nodiscard]] Death died(const std::string& how, std::chrono::milliseconds grace);
  [[nodiscard]] Death hung(std::chrono::milliseconds within) {
    drop();
    return {TimedOut{static_cast<double>(within.count())}};
  }
  /// `grace`, or longer for a launcher, which writes its report at its end.
  [[nodiscard]] std::chrono::milliseconds patience(std::chrono::milliseconds grace) const;

  bool has_launcher_;
  std::unique_ptr<WorkerProcess> process_;
  bool killed_ = false;
};

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
  [[nodiscard]] double part_share() const {
    return problem_ && problem_->part ? share_of(*problem_->part, problem_->problem) : 1.0;
  }

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
