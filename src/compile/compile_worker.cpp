#include "compile/compile_worker.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "compile/compile_messages.hpp"
#include "process/channel.hpp"
#include "process/worker_process.hpp"

namespace fatune {
namespace {

void lower_limit(__rlimit_resource_t resource, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) == 0) {
    limit.rlim_cur = std::min(limit.rlim_cur, most);
    ::setrlimit(resource, &limit);
  }
}

/// A compiler that crashes leaves no core, and one whose memory grows without end fails.
void limit_this_process() {
  lower_limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve far more
  constexpr rlim_t kMostDataBytes = rlim_t{4} << 30;
  lower_limit(RLIMIT_DATA, kMostDataBytes);
#endif
}

/// Ends this process with its parent, even while it compiles.
void end_with_parent() {
  std::thread([] {
    pollfd parent{kWorkerDescriptor, POLLRDHUP, 0};
    while (::poll(&parent, 1, -1) <= 0) {
    }
    ::_exit(0);
  }).detach();
}

CompileResult compile_or_say_why(const Message& message) {
  try {
    return compile_here(job_of(message));
  } catch (const std::exception& error) {
    return CompileFailed{error.what()};
  }
}

}  // namespace

void run_compile_worker() {
  check_worker_connection();
  limit_this_process();
  end_with_parent();
  Channel channel{Descriptor(kWorkerDescriptor)};
  for (Message message; channel.receive(message) == Exchange::done;) {
    if (channel.send(message_of(compile_or_say_why(message))) != Exchange::done) {
      return;
    }
  }
}

}  // namespace fatune
