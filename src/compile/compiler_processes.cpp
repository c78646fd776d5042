#include "compile/compiler_processes.hpp"

#include <signal.h>

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "compile/compile_messages.hpp"
#include "compile/compile_worker.hpp"

namespace fatune {
namespace {

constexpr const char* kOutOfMemory = "it needs more memory than it may use, which is 4 GiB or less";

CompilerCrashed crash(const std::string& reason, const WorkerProcess& process) {
  const std::string what = "the compiler crashed: " + reason;
  const std::string& last_words = process.output();
  return {reason, last_words.empty() ? what : fmt::format("{}\n{}", what, last_words)};
}

bool mentions(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

/// The compiler's own words, in its log or on its standard error.
bool is_out_of_memory(std::string_view text) {
  return mentions(text, "catastrophic error: out of memory") ||
         mentions(text, "LLVM ERROR: out of memory") || mentions(text, "std::bad_alloc") ||
         mentions(text, "Memory allocation failure");
}

std::string with_limit(const std::string& how, const std::string& last_words) {
  if (mentions(last_words, kStackIsFull)) {
    return fmt::format("{}: it needs more than {} MiB of stack", how, kMostStackBytes >> 20);
  }
  return is_out_of_memory(last_words) ? fmt::format("{}: {}", how, kOutOfMemory) : how;
}

/// Null: compile in this process. Never destroyed: the processes end with this one.
CompilerProcesses* processes = nullptr;

}  // namespace

std::unique_ptr<WorkerProcess> CompilerProcesses::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    return nullptr;
  }
  auto process = std::move(idle_.back());
  idle_.pop_back();
  return process;
}

void CompilerProcesses::give_back(std::unique_ptr<WorkerProcess> process) {
  process->forget_output();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(process));
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
