#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/descriptor.hpp"

namespace fatune {

// The messages between fatune and its worker process: docs/worker-protocol.md.

/// Incremented with every change that an older peer would not understand.
inline constexpr int kProtocolVersion = 9;

/// One message: a JSON object whose "type" says what it is, and bytes (machine code, tensors) where
/// JSON would be a poor container.
struct Message {
  nlohmann::json body;
  std::vector<char> blob;
};

/// The bytes do not follow the protocol, or the peer sends a message at the wrong time.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::uint32_t kMaxJsonBytes = std::uint32_t{16} << 20;
inline constexpr std::uint32_t kMaxBlobBytes = std::uint32_t{256} << 20;

/// Encodes a message for the stream: "FTN1", then two little-endian 32-bit sizes, then JSON, then
/// blob. Throws ProtocolError if the message exceeds the limits.
[[nodiscard]] std::vector<char> encode(const Message& message);

/// Assembles messages from the pieces of the stream that arrive. Never holds more than a frame may
/// have, and never trusts a size before the magic number was right.
class FrameDecoder {
 public:
  void feed(std::span<const char> bytes);
  /// The next complete message. Empty: there is none yet. Throws ProtocolError for bytes that are
  /// no message; the stream is then unusable.
  [[nodiscard]] std::optional<Message> next();

 private:
  std::vector<char> buffer_;
  std::size_t read_ = 0;  // bytes of the buffer that have been given out
};

/// The message's "type". Throws ProtocolError if there is none.
[[nodiscard]] std::string type_of(const Message& message);

/// How an attempt to exchange a message ended.
enum class Exchange { done, closed, too_late };

/// Messages over a connected stream socket.
class Channel {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  /// A descriptor that is watched while the channel waits, so that its writer is not held up.
  /// `on_readable` is called when it can be read, and returns false once it has ended.
  struct Companion {
    int descriptor = -1;
    std::function<bool()> on_readable;
  };

  explicit Channel(Descriptor socket, Companion companion)
      : socket_(std::move(socket)), companion_(std::move(companion)) {}
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  /// Sends a message. `closed`: the peer has gone. Never raises SIGPIPE. Throws ProtocolError if
  /// the message is too large.
  [[nodiscard]] Exchange send(const Message& message, Clock::time_point deadline = kNever);
  /// Receives a message. A message that has arrived takes precedence over a deadline that has
  /// passed, because this process may have been stopped. Throws ProtocolError for garbage.
  [[nodiscard]] Exchange receive(Message& message, Clock::time_point deadline = kNever);

 private:
  [[nodiscard]] bool wait(short events, Clock::time_point deadline);
  [[nodiscard]] bool read_some();

  Descriptor socket_;
  Companion companion_;
  FrameDecoder decoder_;
};

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
