#include "compile/compile_worker.hpp"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <thread>

#include "compile/compile_messages.hpp"
#include "gpu/nvrtc.hpp"
#include "process/protocol.hpp"
#include "process/worker_process.hpp"

namespace fatune {
namespace {

/// Lowers the limit for good.
void lower_limit(__rlimit_resource_t resource, rlim_t most) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) == 0) {
    limit.rlim_max = std::min(limit.rlim_max, most);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    ::setrlimit(resource, &limit);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
const char* stack_top = nullptr;

/// Says so if the stack is full, and lets the signal end the process.
void on_segmentation_fault(int /*signal*/, siginfo_t* info, void* /*context*/) {
  constexpr std::ptrdiff_t kLargestFrameBytes = std::ptrdiff_t{4} << 20;
  ::signal(SIGSEGV, SIG_DFL);
  const std::ptrdiff_t depth = stack_top - static_cast<const char*>(info->si_addr);
  if (depth > 0 && depth < kMostStackBytes + kLargestFrameBytes) {
    static_cast<void>(!::write(STDERR_FILENO, kStackIsFull.data(), kStackIsFull.size()));
  }
}

void report_a_full_stack() {
  static std::array<char, std::size_t{64} << 10> stack;
  stack_top = static_cast<const char*>(__builtin_frame_address(0));
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_segmentation_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
}

/// NVRTC raises the stack's limit as far as it may, but not for all of its passes.
void set_stack_limit() {
  lower_limit(RLIMIT_STACK, kMostStackBytes);
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_STACK, &limit);
  }
}

/// A compiler whose memory or recursion grows without end fails.
void limit_memory() {
  constexpr rlim_t kMostDataBytes = rlim_t{4} << 30;
  lower_limit(RLIMIT_DATA, kMostDataBytes);
  set_stack_limit();
  report_a_full_stack();
}
#else  // the sanitizers need far more
void limit_memory() {}
#endif

/// From here on, this process can neither open a file nor write to one, whatever the source and the
/// options say: the compiler reads what it is sent, and nothing else decides what it makes.
void shut_in() {
  constexpr unsigned kFirstUnneeded = kWorkerDescriptor + 1;
  ::close_range(kFirstUnneeded, ~0U, 0);
  lower_limit(RLIMIT_NOFILE, kFirstUnneeded);
  lower_limit(RLIMIT_FSIZE, 0);
  lower_limit(RLIMIT_CORE, 0);
  ::clearenv();
  static_cast<void>(!::chdir("/"));  // names are not looked for where fatune was started
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
  static_cast<void>(gpu::probe_nvrtc());  // loads its libraries
  end_with_parent();
  shut_in();
  limit_memory();
  Channel channel{Descriptor(kWorkerDescriptor)};
  for (Message message; channel.receive(message) == Exchange::done;) {
    if (channel.send(message_of(compile_or_say_why(message))) != Exchange::done) {
      return;
    }
  }
}

}  // namespace fatune
