#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "process/protocol.hpp"

namespace fatune {

/// The descriptor of a worker's end of the connection.
inline constexpr int kWorkerDescriptor = 3;

/// The program that is started as a worker.
struct WorkerCommand {
  std::string program;
  std::vector<std::string> launcher{};  ///< the command of a tool (path and arguments) that runs
                                        ///< the program that follows it: a profiler, a sanitizer
  std::string role = "worker";          ///< the program's argument
};

/// Throws Error(usage) unless this process was started as a worker.
void check_worker_connection();

/// How a worker ended.
struct WorkerEnd {
  std::string text;  ///< "signal 11 (Segmentation fault)", "exit status 3", "killed by fatune"
  bool killed_by_others = false;  ///< SIGKILL or SIGTERM ended it, which are no program's faults
};

/// A worker process: started by the constructor, killed by the destructor if it still runs.
///
/// It has its own process group, so that the terminal's Ctrl-C reaches only fatune. Its standard
/// output and standard error are collected.
class WorkerProcess {
 public:
  /// Throws Error(gpu_failure) if it cannot be started.
  explicit WorkerProcess(const WorkerCommand& command);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  [[nodiscard]] Channel& channel() { return *channel_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Kills the worker and its launcher (SIGKILL) unless it ends by itself within `grace`. Waits for
  /// its end and returns how it ended.
  WorkerEnd end(std::chrono::milliseconds grace);

  /// The last lines that the worker has written since forget_output(); may be empty.
  [[nodiscard]] const std::string& output() const noexcept { return output_; }
  void forget_output() { output_.clear(); }

 private:
  bool read_output();
  void drain_output();

  pid_t pid_ = -1;
  Descriptor output_end_;
  std::unique_ptr<Channel> channel_;
  std::string output_;
};

}  // namespace fatune
