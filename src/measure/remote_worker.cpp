#include "measure/remote_worker.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "measure/part_of_problem.hpp"

namespace fatune {
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
