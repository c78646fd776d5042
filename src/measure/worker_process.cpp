#include "measure/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

using Clock = Channel::Clock;

constexpr std::size_t kKeptOutputBytes = 1000;
// The driver takes its time to tear a context down; beyond this the process is left behind.
constexpr std::chrono::seconds kReapTimeout{20};

[[noreturn]] void cannot_start(const std::string& program, int error) {
  throw Error(ExitCode::gpu_failure,
              fmt::format("the worker process cannot be started: {}", std::strerror(error)),
              program);
}

struct Ends {
  Descriptor ours;
  Descriptor theirs;
};

/// Numbers below 10 are those that the worker gets: dup2 must not meet one of ours there.
Descriptor moved_up(int number) {
  constexpr int kLowest = 10;
  Descriptor low(number);
  return Descriptor(::fcntl(low.get(), F_DUPFD_CLOEXEC, kLowest));
}

Ends open_ends(const std::string& program, bool socket) {
  std::array<int, 2> numbers{-1, -1};
  const int failed = socket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data())
                            : ::pipe2(numbers.data(), O_CLOEXEC);
  if (failed != 0) {
    cannot_start(program, errno);
  }
  Ends ends{moved_up(numbers[0]), moved_up(numbers[1])};
  if (ends.ours.get() < 0 || ends.theirs.get() < 0) {
    cannot_start(program, EMFILE);
  }
  return ends;
}

class FileActions {
 public:
  FileActions(int socket, int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, kWorkerDescriptor);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  FileActions(FileActions&&) = delete;
  FileActions& operator=(FileActions&&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class OwnGroup {
 public:
  OwnGroup() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
  }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  OwnGroup(OwnGroup&&) = delete;
  OwnGroup& operator=(OwnGroup&&) = delete;
  ~OwnGroup() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

pid_t spawn(const std::string& program, int socket, int output) {
  const FileActions actions(socket, output);
  const OwnGroup group;
  std::string name = "fatune";
  std::string command = "worker";
  const std::array<char*, 3> arguments{name.data(), command.data(), nullptr};
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, program.c_str(), actions.get(), group.get(), arguments.data(), environ);
  if (error != 0) {
    cannot_start(program, error);
  }
  return pid;
}

/// Its status, when it ends in time. A poll, because only the parent of a process can wait for it
/// and no portable wait has a deadline; it is short against what starting a worker takes.
std::optional<int> wait_for(pid_t pid, std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kPause{2};
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) {
      return status;
    }
    if ((ended < 0 && errno != EINTR) || Clock::now() >= deadline) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(kPause);
  }
}

WorkerEnd end_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {fmt::format("signal {} ({})", signal, ::strsignal(signal)),
            signal == SIGKILL || signal == SIGTERM};
  }
  return {fmt::format("exit status {}", WEXITSTATUS(status))};
}

}  // namespace

WorkerProcess::WorkerProcess(const std::string& program) {
  Ends connection = open_ends(program, true);
  Ends output = open_ends(program, false);
  pid_ = spawn(program, connection.theirs.get(), output.theirs.get());
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
    ::kill(pid_, SIGKILL);
    static_cast<void>(wait_for(pid_, kReapTimeout));
  }
  pid_ = -1;
  drain_output();
  return status ? end_of(*status) : WorkerEnd{"killed by fatune"};
}

// False at the end of the stream.
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

// A grandchild may hold the stream open, and a flood may not end: what is there, up to a limit.
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
