#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/nvrtc_compile.hpp"
#include "process/worker_process.hpp"

namespace fatune {

/// Processes that compile, started when they are needed and used again. A compiler that crashes, or
/// that needs too much time or memory, costs one job. Besides, NVRTC holds a lock for a part of its
/// work: 16 processes compile 1.4 times as much as 16 threads of one (docs/worker-protocol.md).
///
/// Several threads may use it at the same time.
class CompilerProcesses {
 public:
  static constexpr std::chrono::seconds kLongest{300};

  /// `command`: a program that calls run_compile_worker(). A job that takes longer than `longest`
  /// fails.
  explicit CompilerProcesses(WorkerCommand command, std::chrono::milliseconds longest = kLongest)
      : command_(std::move(command)), longest_(longest) {}

  /// Throws Error if no process can be started, and ProtocolError if it is no compiler.
  [[nodiscard]] CompileResult compile(const CompileJob& job);
  /// Ends the compilations under way, which fail, and all later ones.
  void stop() { stopped_ = true; }

 private:
  [[nodiscard]] std::unique_ptr<WorkerProcess> take();
  void give_back(std::unique_ptr<WorkerProcess> process);
  [[nodiscard]] CompileResult await(std::unique_ptr<WorkerProcess> process, const std::string& key);

  WorkerCommand command_;
  std::chrono::milliseconds longest_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
};

/// Has compile_apart() use processes of this program from now on.
void compile_in_processes();

/// Has the processes stop: the user has interrupted the run, and waits.
void stop_compiling();

/// Compiles in another process if compile_in_processes() was called and one can be started, else in
/// this one. Throws what CompilerProcesses::compile() and compile_here() throw.
[[nodiscard]] CompileResult compile_apart(const CompileJob& job);

}  // namespace fatune
