#include "process/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace fatune {
namespace {

struct StandardStream {
  int number;
  int flags;  ///< flags of the file that replaces a closed stream
};

// The order matters: an opened file gets the lowest free number.
constexpr std::array<StandardStream, 3> kStreams{
    {{STDIN_FILENO, O_RDONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}};

}  // namespace

void secure_standard_streams() {
  for (const StandardStream& stream : kStreams) {
    if (::fcntl(stream.number, F_GETFD) < 0) {
      static_cast<void>(::open("/dev/null", stream.flags));
    }
  }
  std::signal(SIGPIPE, SIG_IGN);
}

void end_by_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace fatune
