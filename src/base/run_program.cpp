#include "base/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"

namespace fatune {
namespace {

[[noreturn]] void fail(int error, const char* call) {
  throw std::system_error(error, std::generic_category(), call);
}

/// Moves a descriptor to 10 or above. Programs get the numbers below 10: dup2 must not meet ours
/// there.
Descriptor moved_up(int number) {
  constexpr int kLowest = 10;
  Descriptor low(number);
  Descriptor high(::fcntl(low.get(), F_DUPFD_CLOEXEC, kLowest));
  if (high.get() < 0) {
    fail(errno, "fcntl");
  }
  return high;
}

Ends moved_up(const std::array<int, 2>& numbers) {
  Descriptor theirs(numbers[1]);
  Descriptor ours = moved_up(numbers[0]);
  return {std::move(ours), moved_up(theirs.release())};
}

/// How a program is started: with its wires, in a process group of its own, and with the signals
/// that it expects: this process ignores broken pipes, and may block signals that end it.
class SpawnSetup {
 public:
  SpawnSetup(const std::vector<Wire>& wires, const std::filesystem::path& folder) {
    ::posix_spawn_file_actions_init(&actions_);
    if (!folder.empty()) {
      ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    }
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const Wire& wire : wires) {
      ::posix_spawn_file_actions_adddup2(&actions_, wire.from, wire.to);
    }
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigaddset(&signals, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// This process' environment, with these variables in place of its own.
std::vector<std::string> environment_with(std::vector<std::string> variables) {
  const std::size_t own = variables.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    const auto end = variables.begin() + static_cast<std::ptrdiff_t>(own);
    if (std::none_of(variables.begin(), end,
                     [&](const std::string& variable) { return variable.starts_with(name); })) {
      variables.push_back(text);
    }
  }
  return variables;
}

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptErrorBytes = 2000;

/// An output stream of the program.
struct Stream {
  Descriptor end;
  std::string text;

  [[nodiscard]] bool open() const { return end.get() >= 0; }
};

/// The running program. The destructor kills it, with all that it has started, unless it has ended.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ >= 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] std::optional<int> wait(std::chrono::milliseconds timeout) {
    const std::optional<int> status = wait_for(pid_, timeout);
    pid_ = status ? -1 : pid_;
    return status;
  }

 private:
  pid_t pid_;
};

std::chrono::milliseconds left_until(Clock::time_point deadline) {
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()));
}

void read_some(Stream& stream) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(stream.end.get(), buffer.data(), buffer.size());
  if (count > 0) {
    stream.text.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    stream.end.close();
  }
}

/// One run, from start to end.
class Run {
 public:
  Run(const std::string& program, const std::vector<std::string>& arguments,
      const RunLimits& limits, const Surroundings& surroundings)
      : program_(program), limits_(limits), deadline_(Clock::now() + limits.timeout) {
    Ends out = open_pipe();
    Ends err = open_pipe();
    std::vector<std::string> all{std::filesystem::path(program).filename().string()};
    append(all, arguments);
    child_.emplace(spawn_program(program, std::move(all),
                                 {{out.theirs.get(), 1}, {err.theirs.get(), 2}}, surroundings));
    out_.end = std::move(out.ours);
    err_.end = std::move(err.ours);
  }

  ProgramOutput finish() {
    while (out_.open() || err_.open()) {
      read_streams();
    }
    const std::optional<int> status = child_->wait(left_until(deadline_));
    if (!status) {
      fail_too_long();
    }
    if (*status != 0) {
      fail(describe_status(*status));
    }
    return {std::move(out_.text), std::move(err_.text)};
  }

 private:
  void read_streams() {
    const auto left = left_until(deadline_);
    if (left.count() == 0) {
      fail_too_long();
    }
    std::array<pollfd, 2> watched{{{out_.end.get(), POLLIN, 0}, {err_.end.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
    if (watched[0].revents != 0) {
      read_some(out_);
    }
    if (watched[1].revents != 0) {
      read_some(err_);
      if (err_.text.size() > kKeptErrorBytes) {
        err_.text.erase(0, err_.text.size() - kKeptErrorBytes);
      }
    }
    if (out_.text.size() > limits_.output_bytes) {
      fail(fmt::format("wrote more than {} bytes", limits_.output_bytes));
    }
  }

  [[noreturn]] void fail_too_long() const {
    fail(fmt::format("did not end within {} ms", limits_.timeout.count()));
  }
  [[noreturn]] void fail(const std::string& how) const {
    throw Error(ExitCode::bad_file, fmt::format("the program failed: {}", how), program_,
                err_.text.empty() ? "it wrote no message" : "its messages: " + err_.text);
  }

  const std::string& program_;
  const RunLimits& limits_;
  const Clock::time_point deadline_;
  std::optional<Child> child_;
  Stream out_;
  Stream err_;
};

}  // namespace

Ends open_pipe() {
  std::array<int, 2> numbers{-1, -1};
  if (::pipe2(numbers.data(), O_CLOEXEC) != 0) {
    fail(errno, "pipe2");
  }
  return moved_up(numbers);
}

Ends open_socket() {
  std::array<int, 2> numbers{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, numbers.data()) != 0) {
    fail(errno, "socketpair");
  }
  return moved_up(numbers);
}

pid_t spawn_program(const std::string& program, std::vector<std::string> arguments,
                    const std::vector<Wire>& wires, const Surroundings& surroundings) {
  const SpawnSetup setup(wires, surroundings.folder);
  std::vector<std::string> environment = environment_with(surroundings.variables);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), setup.actions(), setup.attributes(),
                                  pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) {
    fail(error, "posix_spawn");
  }
  return pid;
}

// Polls, because only the parent of a process can wait for it and no portable wait has a deadline.
// The pause is short compared with starting a program.
std::optional<int> wait_for(pid_t pid, std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kPause{2};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) {
      return status;
    }
    if ((ended < 0 && errno != EINTR) || std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(kPause);
  }
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

ProgramOutput run_program(const std::string& program, const std::vector<std::string>& arguments,
                          const RunLimits& limits, const Surroundings& surroundings) {
  try {
    return Run(program, arguments, limits, surroundings).finish();
  } catch (const std::system_error& error) {
    throw Error(ExitCode::bad_file,
                fmt::format("the program cannot be started: {}", error.code().message()), program);
  }
}

}  // namespace fatune
