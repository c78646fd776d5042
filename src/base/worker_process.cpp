#include "base/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/run_program.hpp"

namespace fatune {
namespace {

constexpr std::array<char, 4> kMagic{'F', 'T', 'N', '1'};

void check_size(std::size_t bytes, std::size_t most, const char* what) {
  if (bytes > most) {
    throw ProtocolError(
        fmt::format("a message with {} bytes of {}; at most {} are allowed", bytes, what, most));
  }
}

/// The beginning of a frame, as its bytes are in the stream.
struct FrameHeader {
  std::array<char, 4> magic = kMagic;
  std::uint32_t json_bytes = 0;
  std::uint32_t blob_bytes = 0;
};
static_assert(sizeof(FrameHeader) == kFrameHeaderBytes);
static_assert(std::endian::native == std::endian::little);

FrameHeader read_header(const char* bytes) {
  FrameHeader header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.magic != kMagic) {
    throw ProtocolError("bytes that are not a message");
  }
  check_size(header.json_bytes, kMaxJsonBytes, "JSON");
  check_size(header.blob_bytes, kMaxBlobBytes, "data");
  return header;
}

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

constexpr std::size_t kKeptOutputBytes = 1000;
// The driver takes some time to tear a context down. After this timeout the process is left behind.
constexpr std::chrono::seconds kReapTimeout{20};

pid_t spawn_worker(const WorkerCommand& command, int socket, int output) {
  const bool alone = command.launcher.empty();
  std::vector<std::string> words = command.launcher;
  words.push_back(alone ? "fatune" : command.program);
  words.push_back(command.role);
  return spawn_program(
      alone ? command.program : command.launcher.front(), std::move(words),
      {{output, STDOUT_FILENO}, {output, STDERR_FILENO}, {socket, kWorkerDescriptor}});
}

WorkerEnd end_of(int status) {
  const bool killed =
      WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
  return {describe_status(status), killed};
}

}  // namespace

std::vector<char> encode(const Message& message) {
  const std::string json =
      message.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  check_size(json.size(), kMaxJsonBytes, "JSON");
  check_size(message.blob.size(), kMaxBlobBytes, "data");
  const FrameHeader header{kMagic, static_cast<std::uint32_t>(json.size()),
                           static_cast<std::uint32_t>(message.blob.size())};
  std::vector<char> bytes(sizeof header);
  bytes.reserve(sizeof header + json.size() + message.blob.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  append(bytes, json);
  append(bytes, message.blob);
  return bytes;
}

void FrameDecoder::feed(std::span<const char> bytes) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(read_));
  read_ = 0;
  append(buffer_, bytes);
}

std::optional<Message> FrameDecoder::next() {
  const char* const frame = buffer_.data() + read_;
  const std::size_t available = buffer_.size() - read_;
  if (available < kFrameHeaderBytes) {
    return std::nullopt;
  }
  const FrameHeader sizes = read_header(frame);
  const std::size_t total = kFrameHeaderBytes + std::size_t{sizes.json_bytes} + sizes.blob_bytes;
  if (available < total) {
    return std::nullopt;
  }
  const char* const json = frame + kFrameHeaderBytes;
  const char* const blob = json + sizes.json_bytes;
  Message message{nlohmann::json::parse(json, blob, nullptr, false),
                  {blob, blob + sizes.blob_bytes}};
  if (!message.body.is_object()) {
    throw ProtocolError("a message whose body is not a JSON object");
  }
  read_ += total;
  return message;
}

std::string type_of(const Message& message) {
  const auto type = message.body.find("type");
  if (type == message.body.end() || !type->is_string()) {
    throw ProtocolError("a message without a type");
  }
  return type->get<std::string>();
}

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

void check_worker_connection() {
  struct stat status {};
  if (::fstat(kWorkerDescriptor, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    throw Error(ExitCode::usage, "workers are started by fatune; they are not for users", {},
                "use 'fatune sweep' or 'fatune run'");
  }
}

WorkerProcess::WorkerProcess(const WorkerCommand& command) {
  Ends connection;
  Ends output;
  try {
    connection = open_socket();
    output = open_pipe();
    pid_ = spawn_worker(command, connection.theirs.get(), output.theirs.get());
  } catch (const std::system_error& error) {
    throw Error(ExitCode::gpu_failure,
                fmt::format("the worker process cannot be started: {}", error.code().message()),
                command.launcher.empty() ? command.program : command.launcher.front());
  }
  output_end_ = std::move(output.ours);
  ::fcntl(output_end_.get(), F_SETFL, O_NONBLOCK);
  channel_ = std::make_unique<Channel>(
      std::move(connection.ours),
      Channel::Companion{output_end_.get(), [this] { return read_output(); }});
}

WorkerProcess::~WorkerProcess() { static_cast<void>(end(std::chrono::milliseconds(0))); }

WorkerEnd WorkerProcess::end(std::chrono::milliseconds grace) {
  if (pid_ < 0) {
    return {"ended before"};
  }
  const std::optional<int> status = wait_for(pid_, grace);
  if (!status) {
    ::kill(-pid_, SIGKILL);  // its process group: a launcher has children
    static_cast<void>(wait_for(pid_, kReapTimeout));
  }
  pid_ = -1;
  drain_output();
  return status ? end_of(*status) : WorkerEnd{"killed by fatune"};
}

// Reads what there is. Returns false at the end of the stream.
bool WorkerProcess::read_output() {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(output_end_.get(), buffer.data(), buffer.size());
  if (count > 0) {
    output_.append(buffer.data(), static_cast<std::size_t>(count));
    if (output_.size() > kKeptOutputBytes) {
      output_.erase(0, output_.size() - kKeptOutputBytes);
    }
  }
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

// Reads what is there, up to a limit, because a grandchild may hold the stream open, and output may
// never end.
void WorkerProcess::drain_output() {
  constexpr int kMostReads = 64;
  for (int i = 0; i < kMostReads; ++i) {
    const std::size_t before = output_.size();
    if (!read_output() || output_.size() == before) {
      return;
    }
  }
}

}  // namespace fatune
