#include "gpu/compiler_processes.hpp"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "gpu/cubin_cache.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

using nlohmann::json;

constexpr const char* kJob = "compile";
constexpr const char* kArtifact = "artifact";
constexpr const char* kFailed = "failed";

/// Texts go to the blob, because they need not be valid UTF-8.
json put_file(const SourceFile& file, std::vector<char>& blob) {
  append(blob, file.text);
  return {{"name", file.name}, {"bytes", file.text.size()}};
}

/// Takes the texts off the blob in the order in which they were put there.
class Texts {
 public:
  explicit Texts(const std::vector<char>& blob) : left_(blob.data(), blob.size()) {}

  SourceFile take_file(const json& file) {
    const auto bytes = file.at("bytes").get<std::size_t>();
    if (bytes > left_.size()) {
      throw ProtocolError("a source is longer than the message");
    }
    SourceFile taken{file.at("name"), std::string(left_.substr(0, bytes))};
    left_.remove_prefix(bytes);
    return taken;
  }

 private:
  std::string_view left_;
};

/// Throws json::exception if a member is missing or of another type.
CompileJob read_job(const Message& message) {
  Texts texts(message.blob);
  auto sources = std::make_shared<SourceBundle>();
  sources->main = texts.take_file(message.body.at("main"));
  for (const json& header : message.body.at("headers")) {
    sources->headers.push_back(texts.take_file(header));
  }
  CompileJob job;
  job.sources = std::move(sources);
  message.body.at("options").get_to(job.options);
  message.body.at("entry_point").get_to(job.entry_point);
  message.body.at("entry_is_template").get_to(job.entry_is_template);
  job.output = static_cast<CompileOutput>(message.body.at("output").get<int>());
  message.body.at("key").get_to(job.key);
  return job;
}

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

constexpr const char* kOutOfMemory = "it needs more memory than it may use, which is 4 GiB or less";

CompilerCrashed crash(const std::string& reason, const WorkerProcess& process) {
  const std::string what = "the compiler crashed: " + reason;
  const std::string& last_words = process.output();
  return {reason, last_words.empty() ? what : fmt::format("{}\n{}", what, last_words)};
}

/// The compiler's own words, in its log or on its standard error.
bool is_out_of_memory(std::string_view text) {
  return contains(text, "catastrophic error: out of memory") ||
         contains(text, "LLVM ERROR: out of memory") || contains(text, "std::bad_alloc") ||
         contains(text, "Memory allocation failure");
}

std::string with_limit(const std::string& how, const std::string& last_words) {
  if (contains(last_words, kStackIsFull)) {
    return fmt::format("{}: it needs more than {} MiB of stack", how, kMostStackBytes >> 20);
  }
  return is_out_of_memory(last_words) ? fmt::format("{}: {}", how, kOutOfMemory) : how;
}

/// Null: compile in this process. Never destroyed: the processes end with this one.
CompilerProcesses* processes = nullptr;

}  // namespace

Message message_of(const CompileJob& job) {
  Message message;
  message.body = {{"type", kJob},
                  {"main", put_file(job.sources->main, message.blob)},
                  {"headers", json::array()},
                  {"options", job.options},
                  {"entry_point", job.entry_point},
                  {"entry_is_template", job.entry_is_template},
                  {"output", static_cast<int>(job.output)},
                  {"key", job.key}};
  for (const SourceFile& header : job.sources->headers) {
    message.body["headers"].push_back(put_file(header, message.blob));
  }
  return message;
}

CompileJob job_of(const Message& message) {
  if (type_of(message) != kJob) {
    throw ProtocolError("a message that is no job for a compiler");
  }
  try {
    return read_job(message);
  } catch (const json::exception& error) {
    throw ProtocolError(error.what());
  }
}

Message message_of(const CompileResult& result) {
  const auto* const failed = std::get_if<CompileFailed>(&result);
  Message message;
  message.body["type"] = failed != nullptr ? kFailed : kArtifact;
  append(message.blob, failed != nullptr ? failed->log : encode_entry(std::get<Artifact>(result)));
  return message;
}

CompileResult result_of(const Message& message, const std::string& key) {
  const std::string_view blob(message.blob.data(), message.blob.size());
  if (type_of(message) == kFailed) {
    return CompileFailed{std::string(blob)};
  }
  if (auto artifact = decode_entry(blob, key)) {
    artifact->from_cache = false;
    return *std::move(artifact);
  }
  throw ProtocolError("a message that is no result of a compiler");
}

void run_compile_worker() {
  check_worker_connection();
  static_cast<void>(gpu::probe_nvrtc());  // loads its libraries
  end_with_parent();
  shut_in();
  limit_memory();
  Channel channel{Descriptor(kWorkerDescriptor)};
  for (Message message; channel.receive(message) == Exchange::done;) {
    const CompileResult result = guarded([&] { return compile_here(job_of(message)); });
    if (channel.send(message_of(result)) != Exchange::done) {
      return;
    }
  }
}

std::unique_ptr<WorkerProcess> CompilerProcesses::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    return nullptr;
  }
  auto process = std::move(idle_.back());
  idle_.pop_back();
  return process;
}

void CompilerProcesses::set_busy(const WorkerProcess& process, bool busy) {
  const std::lock_guard lock(mutex_);
  if (!busy) {
    busy_.erase(process.pid());
  } else if (stopped_) {
    ::kill(process.pid(), SIGKILL);
  } else {
    busy_.insert(process.pid());
  }
}

void CompilerProcesses::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const pid_t pid : busy_) {  // the threads that wait for them are told by the connection
    ::kill(pid, SIGKILL);
  }
}

CompilerProcesses::Answer CompilerProcesses::ask(WorkerProcess& process, const Message& job,
                                                 const std::string& key) {
  const auto deadline = Channel::Clock::now() + longest_;
  Answer answer;
  set_busy(process, true);
  try {
    answer.end = process.channel().send(job, deadline);
    answer.was_asked = answer.end == Exchange::done;
    Message reply;
    if (answer.was_asked) {
      answer.end = process.channel().receive(reply, deadline);
    }
    if (answer.end == Exchange::done) {
      answer.result = result_of(reply, key);
    }
  } catch (const ProtocolError& error) {
    answer.mistake = error.what();
  }
  set_busy(process, false);
  return answer;
}

CompileResult CompilerProcesses::compile(const CompileJob& job) {
  const Message message = message_of(job);
  while (auto process = take_idle()) {
    Answer answer = ask(*process, message, job.key);
    const bool has_ended = answer.end == Exchange::closed && !answer.was_asked;
    if (!has_ended || stopped_) {
      return take_result(std::move(process), std::move(answer));
    }  // else it ended while it was idle
  }
  auto process = std::make_unique<WorkerProcess>(command_);
  Answer answer = ask(*process, message, job.key);
  return take_result(std::move(process), std::move(answer));
}

CompileResult CompilerProcesses::take_result(std::unique_ptr<WorkerProcess> process,
                                             Answer answer) {
  if (!answer.result) {
    return stopped_ ? CompileResult(CompileFailed{"interrupted"}) : crash_of(*process, answer);
  }
  const auto* const failed = std::get_if<CompileFailed>(&*answer.result);
  if (failed != nullptr && is_out_of_memory(failed->log)) {
    return CompilerCrashed{kOutOfMemory, failed->log};
  }
  give_back(std::move(process));
  return *std::move(answer.result);
}

CompilerCrashed CompilerProcesses::crash_of(WorkerProcess& process, const Answer& answer) const {
  if (!answer.mistake.empty()) {
    return crash(answer.mistake, process);
  }
  if (answer.end == Exchange::too_late) {
    const double longest_s = std::chrono::duration<double>(longest_).count();
    return crash(fmt::format("it did not end within {:.0f} s", longest_s), process);
  }
  constexpr std::chrono::seconds kGrace{1};
  const std::string how = process.end(kGrace).text;
  return crash(with_limit(how, process.output()), process);
}

void compile_in_processes() {
  processes = new CompilerProcesses({"/proc/self/exe", {}, kCompileWorkerRole});
}

void stop_compiling() {
  if (processes != nullptr) {
    processes->stop();
  }
}

CompileResult compile_apart(const CompileJob& job) {
  return processes == nullptr ? compile_here(job) : processes->compile(job);
}

}  // namespace fatune
