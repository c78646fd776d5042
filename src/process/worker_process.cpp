#include "process/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "process/run_program.hpp"

namespace fatune {
namespace {

constexpr std::size_t kKeptOutputBytes = 1000;
// The driver takes some time to tear a context down. After this timeout the process is left behind.
constexpr std::chrono::seconds kReapTimeout{20};

[[noreturn]] void cannot_start(const std::string& program, const std::system_error& error) {
  throw Error(ExitCode::gpu_failure,
              fmt::format("the worker process cannot be started: {}", error.code().message()),
              program);
}

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
    cannot_start(command.launcher.empty() ? command.program : command.launcher.front(), error);
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
