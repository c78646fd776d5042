#include "measure/remote_worker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/error.hpp"
#include "measure/part_of_problem.hpp"
#include "measure/worker_messages.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoGrace{0};
constexpr milliseconds kEndGrace{2000};
constexpr milliseconds kLauncherEndGrace{120'000};  // a profiler writes its report then
// A worker that closed its connection is about to end, and how it ends says what happened. The
// driver takes some time to tear it down.
constexpr milliseconds kDeathGrace{10'000};

bool wrote_outside(const Outcome& outcome) {
  const auto* wrong = std::get_if<WrongResult>(&outcome);
  return wrong != nullptr &&
         std::ranges::any_of(wrong->verification.inputs,
                             [](const ErrorStats& stats) { return stats.guard_bytes_changed > 0; });
}

std::string with_output(const std::string& what, const std::string& output) {
  const std::size_t first = output.find_first_not_of(" \n");
  const std::size_t last = output.find_last_not_of(" \n");
  return first == std::string::npos
             ? what
             : fmt::format("{}; it printed: {}", what, output.substr(first, last + 1 - first));
}

}  // namespace

milliseconds Conversation::patience(milliseconds grace) const {
  return has_launcher_ && grace > kNoGrace ? kLauncherEndGrace : grace;
}

void Conversation::finish() {
  static_cast<void>(
      process_->channel().send(plain_message("shutdown"), Channel::Clock::now() + kEndGrace));
  process_->end(patience(kEndGrace));
  drop();
}

Death Conversation::died(const std::string& how, milliseconds grace) {
  const WorkerEnd end = process_->end(patience(grace));
  const std::string what = with_output(fmt::format("{}: {}", how, end.text), process_->output());
  killed_ = end.killed_by_others;
  drop();
  return {Crashed{what}};
}

Death Conversation::hung(milliseconds within) {
  drop();
  return {TimedOut{static_cast<double>(within.count())}};
}

std::optional<Death> Conversation::tell(const Message& request, milliseconds within) {
  // If the worker has gone, it may have said why. await() finds out.
  const Exchange sent = process_->channel().send(request, Channel::Clock::now() + within);
  return sent == Exchange::too_late ? std::optional(hung(within)) : std::nullopt;
}

Reply Conversation::ask(const Message& request, milliseconds within) {
  if (std::optional<Death> death = tell(request, within)) {
    return *std::move(death);
  }
  return await(within);
}

Reply Conversation::await(milliseconds within) {
  try {
    Message message;
    switch (process_->channel().receive(message, Channel::Clock::now() + within)) {
      case Exchange::done:
        static_cast<void>(type_of(message));
        return message;
      case Exchange::too_late:
        return hung(within);
      case Exchange::closed:
        break;
    }
    return died("the worker process died", kDeathGrace);
  } catch (const ProtocolError& error) {
    return {Death{nonsense(error.what())}};
  }
}

Outcome Conversation::nonsense(const std::string& what) {
  return died(fmt::format("the worker process sent nonsense ({})", what), kNoGrace).outcome;
}

Outcome Conversation::unexpected(const Message& message) {
  return nonsense(fmt::format("an answer '{}'", type_of(message)));
}

Outcome Conversation::failure_of(const Message& message) {
  if (type_of(message) != "rejected") {
    return unexpected(message);
  }
  try {
    Rejection rejection = read_rejected(message);
    if (rejection.lost) {
      process_->end(patience(kEndGrace));
      if (auto* crashed = std::get_if<Crashed>(&rejection.outcome)) {
        crashed->error = with_output(crashed->error, process_->output());
      }
      drop();
    } else if (wrote_outside(rejection.outcome)) {
      if (has_launcher_) {
        finish();  // lets the tool write its report
      }
      drop();
    }
    return rejection.outcome;
  } catch (const ProtocolError& error) {
    return nonsense(error.what());
  }
}

namespace {

constexpr int kStartAttempts = 3;

constexpr const char* kDoctorHint = "'fatune doctor' checks the driver and the GPU";

}  // namespace

RemoteWorker::RemoteWorker(WorkerSettings settings, const MeasurePolicy& policy)
    : settings_(std::move(settings)), policy_(policy), deadlines_(settings_.deadlines) {
  ensure();
}

RemoteWorker::~RemoteWorker() {
  try {
    if (runs()) {
      conversation_->finish();
    }
  } catch (const std::exception& error) {
    spdlog::debug("the worker could not be told to end: {}", error.what());
  }
}

// A failure here is that of the device or the program, because nothing is known to be wrong with
// the worker or the problem.
void RemoteWorker::ensure() {
  int kills = 0;
  for (int attempt = 1; !runs(); ++attempt) {
    try {
      start();
      if (problem_) {
        start_problem();
      }
    } catch (const Error& error) {
      attempt -= was_killed() && ++kills <= kKillsForgiven ? 1 : 0;
      if (conversation_) {
        conversation_->drop();
      }
      if (attempt == kStartAttempts || error.code() != ExitCode::gpu_failure) {
        throw;
      }
      spdlog::debug("starting the worker again: {}", error.what());
    }
  }
}

void RemoteWorker::start() {
  const AddedSeconds starting(start_s_);
  conversation_.reset();
  conversation_ = std::make_unique<Conversation>(settings_.command);
  ++started_;
  admissions_ = 0;
  const Reply reply = conversation_->ask(
      hello_message({kProtocolVersion, settings_.device_ordinal, policy_, settings_.count_rows}),
      deadlines_.start());
  if (const auto* death = std::get_if<Death>(&reply)) {
    throw Error(ExitCode::gpu_failure,
                "the worker process did not start: " + outcome_summary(death->outcome),
                settings_.command.program, kDoctorHint);
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) == "refused") {
    throw read_error(message);
  }
  try {
    const DeviceLimits limits = read_ready(message);
    limits_ = limits_.value_or(limits);
  } catch (const ProtocolError& error) {
    throw Error(ExitCode::gpu_failure, error.what(), settings_.command.program);
  }
}

void RemoteWorker::start_problem() {
  const AddedSeconds busy(busy_s_);
  const Reply reply = conversation_->ask(begin_problem_message(*problem_), deadlines_.problem());
  if (const auto* death = std::get_if<Death>(&reply)) {
    throw Error(ExitCode::gpu_failure,
                fmt::format("the worker process failed to prepare {}: {}",
                            describe(problem_->problem), outcome_summary(death->outcome)),
                {}, kDoctorHint);
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) == "failed") {
    throw read_error(message);
  }
  if (type_of(message) != "done") {
    throw Error(ExitCode::gpu_failure, outcome_summary(conversation_->unexpected(message)));
  }
}

double RemoteWorker::part_share() const {
  return problem_ && problem_->part ? share_of(*problem_->part, problem_->problem) : 1.0;
}

void RemoteWorker::begin_problem(ProblemStart start) {
  deadlines_.begin_problem(start.problem);
  problem_ = std::move(start);
  try {
    if (runs()) {
      start_problem();
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::gpu_failure) {
      problem_.reset();
      throw;
    }
    conversation_->drop();
  }
  ensure();
}

}  // namespace fatune
