#include "process/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace fatune {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

// The time until the deadline, rounded up so that poll() does not return just before it again and
// again.
int poll_ms(Channel::Clock::time_point deadline) {
  if (deadline == Channel::kNever) {
    return -1;
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Channel::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

bool would_wait(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

bool peer_has_gone(int error) { return error == EPIPE || error == ECONNRESET; }

[[noreturn]] void fail(const char* call) {
  throw ProtocolError(fmt::format("{}: {}", call, std::strerror(errno)));
}

}  // namespace

// Waits for the socket. Returns false if the deadline has passed with nothing to do. A companion
// that can always be read does not extend it.
bool Channel::wait(short events, Clock::time_point deadline) {
  for (;;) {
    std::array<pollfd, 2> watched{{{socket_.get(), events, 0}, {companion_.descriptor, POLLIN, 0}}};
    const int ready = ::poll(watched.data(), watched.size(), poll_ms(deadline));
    if (ready < 0 && errno != EINTR) {
      fail("poll");
    }
    if (ready > 0 && watched[1].revents != 0 && !companion_.on_readable()) {
      companion_.descriptor = -1;
    }
    if (ready > 0 && watched[0].revents != 0) {
      return true;
    }
    if (Clock::now() >= deadline) {
      return false;
    }
  }
}

Exchange Channel::send(const Message& message, Clock::time_point deadline) {
  const std::vector<char> bytes = encode(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (peer_has_gone(errno)) {
      return Exchange::closed;
    } else if (!would_wait(errno)) {
      fail("send");
    } else if (!wait(POLLOUT, deadline)) {
      return Exchange::too_late;
    }
  }
  return Exchange::done;
}

// Reads what has arrived. Returns false at the end of the stream.
bool Channel::read_some() {
  std::array<char, kReadBytes> buffer;
  const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) {
    decoder_.feed({buffer.data(), static_cast<std::size_t>(count)});
  } else if (count < 0 && !would_wait(errno) && !peer_has_gone(errno)) {
    fail("recv");
  }
  return count > 0 || (count < 0 && would_wait(errno));
}

Exchange Channel::receive(Message& message, Clock::time_point deadline) {
  for (;;) {
    if (std::optional<Message> next = decoder_.next()) {
      message = *std::move(next);
      return Exchange::done;
    }
    if (!wait(POLLIN, deadline)) {
      return Exchange::too_late;
    }
    if (!read_some()) {
      return Exchange::closed;
    }
  }
}

}  // namespace fatune
