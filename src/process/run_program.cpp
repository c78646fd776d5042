#include "process/run_program.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "core/error.hpp"
#include "process/spawn.hpp"

namespace fatune {
namespace {

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

void keep_end(std::string& text) {
  if (text.size() > kKeptErrorBytes) {
    text.erase(0, text.size() - kKeptErrorBytes);
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
    all.insert(all.end(), arguments.begin(), arguments.end());
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
      keep_end(err_.text);
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
