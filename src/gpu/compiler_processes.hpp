#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/worker_process.hpp"
#include "gpu/nvrtc_compile.hpp"

namespace fatune {

// The messages between fatune and a process that compiles for it: one job, one result. What reads
// them throws ProtocolError if they are not such a message.

[[nodiscard]] Message message_of(const CompileJob& job);
[[nodiscard]] CompileJob job_of(const Message& message);

[[nodiscard]] Message message_of(const CompileResult& result);
/// `key`: that of the job.
[[nodiscard]] CompileResult result_of(const Message& message, const std::string& key);

/// The argument that makes fatune a process that compiles.
inline constexpr const char* kCompileWorkerRole = "compile-worker";

/// Enough for thousands of nested expressions (docs/worker-protocol.md).
inline constexpr std::ptrdiff_t kMostStackBytes = std::ptrdiff_t{128} << 20;
/// What the process says on its standard error before a full stack ends it.
inline constexpr std::string_view kStackIsFull = "fatune: the compiler's stack is full\n";

/// Makes this process compile what the fatune that started it sends, one job after the other, until
/// that one ends. This process then has little memory and can open no file. Throws Error(usage) if
/// there is no connection.
void run_compile_worker();

/// Processes that compile, started when they are needed and used again. A compiler that crashes, or
/// that needs too much time, memory or stack, costs one job: CompilerCrashed. Besides, NVRTC holds
/// a lock for a part of its work: 16 processes compile 1.4 times as much as 16 threads of one
/// (docs/worker-protocol.md).
///
/// Several threads may use it at the same time.
class CompilerProcesses {
 public:
  static constexpr std::chrono::seconds kLongest{300};

  /// `command`: a program that calls run_compile_worker(). A job may take `longest`.
  explicit CompilerProcesses(WorkerCommand command, std::chrono::milliseconds longest = kLongest)
      : command_(std::move(command)), longest_(longest) {}

  /// Throws Error if no process can be started.
  [[nodiscard]] CompileResult compile(const CompileJob& job);
  /// Ends the compilations under way, which fail, and all later ones.
  void stop();

 private:
  /// How a process answered a job.
  struct Answer {
    Exchange end = Exchange::closed;
    bool was_asked = false;  ///< the job was sent
    std::optional<CompileResult> result{};
    std::string mistake{};  ///< it sent something else
  };

  [[nodiscard]] std::unique_ptr<WorkerProcess> take_idle();
  void give_back(std::unique_ptr<WorkerProcess> process) {
    process->forget_output();
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(process));
  }
  /// Has stop() end the process, or not.
  void set_busy(const WorkerProcess& process, bool busy);
  [[nodiscard]] Answer ask(WorkerProcess& process, const Message& job, const std::string& key);
  [[nodiscard]] CompileResult take_result(std::unique_ptr<WorkerProcess> process, Answer answer);
  /// Why there is no result.
  [[nodiscard]] CompilerCrashed crash_of(WorkerProcess& process, const Answer& answer) const;

  WorkerCommand command_;
  std::chrono::milliseconds longest_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
  std::set<pid_t> busy_;
};

/// Has compile_apart() use processes of this program from now on.
void compile_in_processes();

/// Has the processes stop: the user has interrupted the run, and waits.
void stop_compiling();

/// Compiles in another process if compile_in_processes() was called, else in this one. Throws what
/// CompilerProcesses::compile() and compile_here() throw.
[[nodiscard]] CompileResult compile_apart(const CompileJob& job);

}  // namespace fatune
