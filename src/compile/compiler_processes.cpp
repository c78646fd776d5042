#include "compile/compiler_processes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "compile/compile_messages.hpp"
#include "compile/compile_worker.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

std::string with_output(const std::string& what, const WorkerProcess& process) {
  return process.output().empty() ? what : fmt::format("{}\n{}", what, process.output());
}

/// Null: compile in this process. Never destroyed: the processes end with this one.
CompilerProcesses* processes = nullptr;

}  // namespace

std::unique_ptr<WorkerProcess> CompilerProcesses::take() {
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

CompileResult CompilerProcesses::compile(const CompileJob& job) {
  const Message message = message_of(job);
  while (auto process = take()) {
    if (process->channel().send(message) == Exchange::done) {
      return await(std::move(process), job.key);
    }  // else it has ended while it was idle
  }
  auto process = std::make_unique<WorkerProcess>(command_);
  static_cast<void>(process->channel().send(message));  // await() finds out whether it has ended
  return await(std::move(process), job.key);
}

CompileResult CompilerProcesses::await(std::unique_ptr<WorkerProcess> process,
                                       const std::string& key) {
  constexpr std::chrono::milliseconds kPatience{50};  // until stop() is noticed
  const auto deadline = Channel::Clock::now() + longest_;
  Message reply;
  Exchange end = Exchange::too_late;
  while (end == Exchange::too_late && !stopped_ && Channel::Clock::now() < deadline) {
    end = process->channel().receive(reply, std::min(Channel::Clock::now() + kPatience, deadline));
  }
  switch (end) {
    case Exchange::done: {
      CompileResult result = result_of(reply, key);
      give_back(std::move(process));
      return result;
    }
    case Exchange::too_late:
      return CompileFailed{stopped_ ? "interrupted"
                                    : fmt::format("the compiler did not end within {:.0f} s",
                                                  std::chrono::duration<double>(longest_).count())};
    case Exchange::closed:
      break;
  }
  constexpr std::chrono::seconds kGrace{1};
  const std::string how = process->end(kGrace).text;
  return CompileFailed{with_output("the compiler crashed: " + how, *process)};
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
  if (processes == nullptr) {
    return compile_here(job);
  }
  try {
    return processes->compile(job);
  } catch (const Error& error) {
    spdlog::debug("compiling in this process: {}", error.what());
    return compile_here(job);
  }
}

}  // namespace fatune
