#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "measure/protocol.hpp"
#include "process/descriptor.hpp"

namespace fatune {

/// How an attempt to exchange a message ended.
enum class Exchange { done, closed, too_late };

/// Messages over a connected stream socket.
class Channel {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  /// Watched while this waits, so that its writer is not held up: a descriptor and what to call
  /// when it can be read (false: it has ended).
  struct Companion {
    int descriptor = -1;
    std::function<bool()> on_readable;
  };

  explicit Channel(Descriptor socket, Companion companion)
      : socket_(std::move(socket)), companion_(std::move(companion)) {}
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  /// Closed: the peer has gone. Never raises SIGPIPE. Throws ProtocolError (too large).
  [[nodiscard]] Exchange send(const Message& message, Clock::time_point deadline = kNever);
  /// A message that has arrived is preferred over a deadline that has passed (this process may have
  /// been stopped). Throws ProtocolError for garbage.
  [[nodiscard]] Exchange receive(Message& message, Clock::time_point deadline = kNever);

 private:
  [[nodiscard]] bool wait(short events, Clock::time_point deadline);
  [[nodiscard]] bool read_some();

  Descriptor socket_;
  Companion companion_;
  FrameDecoder decoder_;
};

}  // namespace fatune
