#include "cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <gtest/gtest.h>

namespace fatune::testing_cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Makes the terminal pass the program's output on unchanged.
void make_raw(int terminal) {
  termios settings{};
  ::tcgetattr(terminal, &settings);
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  ::tcsetattr(terminal, TCSANOW, &settings);
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  explicit Pipe(std::optional<unsigned short> terminal_columns) {
    terminal_columns ? open_terminal(*terminal_columns) : open_pipe();
  }
  void open_pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("pipe2");
    }
  }
  void open_terminal(unsigned short columns) {
    ends[0] = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    std::array<char, 128> name{};
    if (::grantpt(ends[0]) != 0 || ::unlockpt(ends[0]) != 0 ||
        ::ptsname_r(ends[0], name.data(), name.size()) != 0) {
      throw std::runtime_error("posix_openpt");
    }
    ends[1] = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    make_raw(ends[1]);
    const winsize size{24, columns, 0, 0};
    ::ioctl(ends[1], TIOCSWINSZ, &size);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  Pipe(Pipe&&) = delete;
  Pipe& operator=(Pipe&&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) {
      ::close(ends[end]);
      ends[end] = -1;
    }
  }
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) {
    list.push_back(text.data());
  }
  list.push_back(nullptr);
  return list;
}

/// Returns a file in memory, positioned at its beginning.
int open_input(const std::string& text) {
  const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, text.data(), text.size()) < 0 ||
      ::lseek(descriptor, 0, SEEK_SET) != 0) {
    throw std::runtime_error("memfd_create");
  }
  return descriptor;
}

pid_t spawn(std::vector<std::string> command, const ProcessOptions& options, const Pipe& out,
            const Pipe& err) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : options.environment) {
    variables.push_back(name + "=" + value);
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const int input = open_input(options.input);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  if (!options.folder.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  }
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, command.front().c_str(), &actions, nullptr,
                                  pointers(command).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(input);
  if (error != 0) {
    throw std::runtime_error(command.front() + ": " + std::strerror(error));
  }
  return pid;
}

/// Returns false at the end of the stream.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return count > 0;
}

void read_streams(Pipe& out, Pipe& err, pid_t pid, const ProcessOptions& options,
                  ProcessResult& result) {
  const auto end = Clock::now() + options.deadline;
  bool called = !options.then;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    std::array<pollfd, 2> streams{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
    ::poll(streams.data(), streams.size(), 200);
    if (streams[0].revents != 0 && !read_some(out.ends[0], result.out)) {
      out.close_end(0);
    }
    if (streams[1].revents != 0 && !read_some(err.ends[0], result.err)) {
      err.close_end(0);
    }
    if (!called && result.err.find(options.when_err_has) != std::string::npos) {
      called = true;
      options.then(pid);
    }
    if (Clock::now() > end) {
      ::kill(pid, SIGKILL);
      ADD_FAILURE() << "the program did not end in time";
      return;
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const ProcessOptions& options) {
  Pipe out(options.terminal_columns);
  Pipe err(options.terminal_columns);
  ProcessResult result;
  const pid_t pid = spawn(command, options, out, err);
  out.close_end(1);
  err.close_end(1);
  read_streams(out, err, pid, options, result);
  int status = 0;
  ::waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace fatune::testing_cli
