#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "process/descriptor.hpp"
#include "process/protocol.hpp"

namespace fatune {

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

}  // namespace fatune
