#include "measure/remote_measurer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

constexpr int kStartAttempts = 3;
constexpr milliseconds kNoGrace{0};
// A worker that closed its connection is about to end, and how it ends says what happened.
constexpr milliseconds kEndGrace{2000};
constexpr int kVerificationRuns = 3;

bool is_crash(const Outcome& outcome) { return std::holds_alternative<Crashed>(outcome); }

bool wrote_outside(const Outcome& outcome) {
  const auto* wrong = std::get_if<WrongResult>(&outcome);
  return wrong != nullptr &&
         std::any_of(wrong->verification.inputs.begin(), wrong->verification.inputs.end(),
                     [](const ErrorStats& stats) { return stats.guard_bytes_changed > 0; });
}

std::string with_output(const std::string& what, const std::string& output) {
  const std::size_t first = output.find_first_not_of(" \n");
  const std::size_t last = output.find_last_not_of(" \n");
  return first == std::string::npos
             ? what
             : fmt::format("{}; it printed: {}", what, output.substr(first, last + 1 - first));
}

std::string text_of(const Outcome& outcome) { return std::get<Crashed>(outcome).error; }

Outcome confirmed(const Outcome& outcome) {
  return is_crash(outcome)
             ? Outcome{Crashed{text_of(outcome) + " (again when run alone in a fresh process)"}}
             : outcome;
}

}  // namespace

RemoteMeasurer::RemoteMeasurer(WorkerSettings settings, MeasurePolicy policy)
    : Measurer(policy), settings_(std::move(settings)), deadlines_(settings_.deadlines) {
  ensure_worker();
}

RemoteMeasurer::~RemoteMeasurer() {
  try {
    if (worker_ != nullptr) {
      static_cast<void>(
          worker_->channel().send(plain_message("shutdown"), Channel::Clock::now() + kEndGrace));
      worker_->end(kEndGrace);
    }
  } catch (const std::exception& error) {
    spdlog::debug("the worker could not be told to end: {}", error.what());
  }
}

// --- The worker ---

// Also begins the problem, if there is one. Nothing is known to be wrong with either: what fails is
// the device, or the program.
void RemoteMeasurer::ensure_worker() {
  for (int attempt = 1; worker_ == nullptr; ++attempt) {
    try {
      start_worker();
      if (problem_) {
        start_problem();
      }
    } catch (const Error& error) {
      drop_worker();
      if (attempt == kStartAttempts || error.code() != ExitCode::gpu_failure) {
        throw;
      }
      spdlog::debug("starting a worker again: {}", error.what());
    }
  }
}

void RemoteMeasurer::start_worker() {
  worker_ = std::make_unique<WorkerProcess>(settings_.program);
  ++workers_started_;
  admissions_here_ = 0;
  const Reply reply = ask(hello_message({kProtocolVersion, settings_.device_ordinal, policy()}),
                          deadlines_.start());
  if (const auto* death = std::get_if<Death>(&reply)) {
    throw Error(ExitCode::gpu_failure,
                "the worker process did not start: " + outcome_summary(death->outcome),
                settings_.program, "'fatune doctor' checks the driver and the GPU");
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) == "refused") {
    throw read_error(message);
  }
  try {
    const DeviceLimits limits = read_ready(message);
    limits_ = workers_started_ == 1 ? limits : limits_;
  } catch (const ProtocolError& error) {
    throw Error(ExitCode::gpu_failure, error.what(), settings_.program);
  }
}

void RemoteMeasurer::start_problem() {
  const Reply reply =
      ask(begin_problem_message(problem_->problem, problem_->kernels), deadlines_.problem());
  if (const auto* death = std::get_if<Death>(&reply)) {
    throw Error(ExitCode::gpu_failure,
                fmt::format("the worker process failed to prepare {}: {}",
                            describe(problem_->problem), outcome_summary(death->outcome)),
                {}, "'fatune doctor' checks the driver and the GPU");
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) == "failed") {
    throw read_error(message);
  }
  if (type_of(message) != "done") {
    throw Error(ExitCode::gpu_failure, outcome_summary(unexpected(message)));
  }
}

void RemoteMeasurer::drop_worker() { worker_.reset(); }

RemoteMeasurer::Death RemoteMeasurer::died(const std::string& how, milliseconds grace) {
  const std::string end = worker_->end(grace);
  const std::string what = with_output(fmt::format("{}: {}", how, end), worker_->output());
  drop_worker();
  return {Crashed{what}};
}

RemoteMeasurer::Death RemoteMeasurer::hung(milliseconds within) {
  drop_worker();
  return {TimedOut{static_cast<double>(within.count())}};
}

RemoteMeasurer::Reply RemoteMeasurer::ask(const Message& request, milliseconds within) {
  const Exchange sent = worker_->channel().send(request, Channel::Clock::now() + within);
  if (sent == Exchange::too_late) {
    return hung(within);
  }
  return await(within);  // also when it has gone: it may have said why
}

RemoteMeasurer::Reply RemoteMeasurer::await(milliseconds within) {
  try {
    Message message;
    switch (worker_->channel().receive(message, Channel::Clock::now() + within)) {
      case Exchange::done:
        static_cast<void>(type_of(message));
        return message;
      case Exchange::too_late:
        return hung(within);
      case Exchange::closed:
        break;
    }
    return died("the worker process died", kEndGrace);
  } catch (const ProtocolError& error) {
    return {Death{nonsense(error.what())}};
  }
}

// --- What comes of a candidate ---

Outcome RemoteMeasurer::nonsense(const std::string& what) {
  return died(fmt::format("the worker process sent nonsense ({})", what), kNoGrace).outcome;
}

Outcome RemoteMeasurer::unexpected(const Message& message) {
  return nonsense(fmt::format("an answer '{}'", type_of(message)));
}

Outcome RemoteMeasurer::failure_of(const Message& message) {
  if (type_of(message) != "rejected") {
    return unexpected(message);
  }
  try {
    Rejection rejection = read_rejected(message);
    if (rejection.lost) {
      worker_->end(kEndGrace);
      if (is_crash(rejection.outcome)) {
        rejection.outcome = Crashed{with_output(text_of(rejection.outcome), worker_->output())};
      }
    }
    if (rejection.lost || wrote_outside(rejection.outcome)) {
      drop_worker();
    }
    return rejection.outcome;
  } catch (const ProtocolError& error) {
    return nonsense(error.what());
  }
}

// Whether the failure that has just been found may be another candidate's doing.
bool RemoteMeasurer::must_confirm() { return std::exchange(crash_in_company_, false); }

// --- Steps ---

void RemoteMeasurer::begin_problem(const Problem& problem, const Artifact& kernels) {
  held_.clear();
  deadlines_.begin_problem(problem);
  problem_ = ProblemStart{problem, kernels};
  try {
    if (worker_ != nullptr) {
      start_problem();
    }
  } catch (const Error& error) {
    const bool device_failed = error.code() == ExitCode::gpu_failure;
    if (!device_failed) {
      problem_.reset();
      throw;
    }
    drop_worker();
  }
  ensure_worker();
}

Admission RemoteMeasurer::admission_of(CandidateId id, const Candidate& candidate, Reply reply) {
  if (auto* death = std::get_if<Death>(&reply)) {
    return {{}, std::move(death->outcome)};
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) != "admitted") {
    return {{}, failure_of(message)};
  }
  try {
    Verification verification = read_admitted(message);
    held_.insert_or_assign(id, Held{candidate, workers_started_});
    return {std::move(verification), std::nullopt};
  } catch (const ProtocolError& error) {
    return {{}, nonsense(error.what())};
  }
}

// A crash that took a worker along which others had used may be theirs.
void RemoteMeasurer::note(bool alone, const std::optional<Outcome>& failure) {
  crash_in_company_ = !alone && worker_ == nullptr && failure.has_value() && is_crash(*failure);
}

Admission RemoteMeasurer::admit_once(CandidateId id, const Candidate& candidate) {
  ensure_worker();
  worker_->forget_output();
  const bool alone = ++admissions_here_ == 1;
  Admission admission = admission_of(
      id, candidate, ask(admit_message(id, candidate), deadlines_.runs(kVerificationRuns)));
  note(alone, admission.failure);
  return admission;
}

Admission RemoteMeasurer::admit(CandidateId id, const Candidate& candidate) {
  Admission admission = admit_once(id, candidate);
  if (must_confirm()) {
    spdlog::debug("{}: {}; running it alone", candidate.label, outcome_summary(*admission.failure));
    admission = admit_once(id, candidate);
    if (admission.failure) {
      admission.failure = confirmed(*admission.failure);
    }
  }
  return admission;
}

std::optional<Outcome> RemoteMeasurer::readmit(CandidateId id) {
  return admit_once(id, held_.at(id).candidate).failure;
}

void RemoteMeasurer::add(const OneSample& one, bool counts, Samples& samples) {
  deadlines_.saw_sample(one.sample_us);
  samples.gate_in_use = samples.gate_in_use && one.gate_in_use;
  if (counts) {
    samples.samples_us.push_back(one.sample_us);
  }
}

std::optional<Outcome> RemoteMeasurer::take_samples(CandidateId id, int discarded, int count,
                                                    Samples& samples) {
  Reply reply = ask(sample_message(id, discarded + count), deadlines_.runs(1));
  for (int taken = 1;; ++taken) {
    if (auto* death = std::get_if<Death>(&reply)) {
      return std::move(death->outcome);
    }
    const auto& message = std::get<Message>(reply);
    if (type_of(message) != "sampled") {
      return failure_of(message);
    }
    try {
      add(read_sampled(message), taken > discarded, samples);
    } catch (const ProtocolError& error) {
      return nonsense(error.what());
    }
    if (taken == discarded + count) {
      return std::nullopt;
    }
    reply = await(deadlines_.runs(1));
  }
}

void RemoteMeasurer::sample_once(CandidateId id, int count, Samples& samples) {
  const bool anew = held_.at(id).worker != workers_started_ || worker_ == nullptr;
  samples.failure = anew ? readmit(id) : std::nullopt;
  if (samples.failure) {
    return;
  }
  const bool alone = admissions_here_ == 1;
  const int discarded = anew ? std::max(0, policy().warmup) : 0;
  samples.failure = take_samples(id, discarded, count, samples);
  note(alone, samples.failure);
}

Samples RemoteMeasurer::sample(CandidateId id, int count) {
  Samples samples;
  samples.gate_in_use = policy().device_gate;
  sample_once(id, count, samples);
  if (must_confirm()) {
    spdlog::debug("{}: {}; running it alone", held_.at(id).candidate.label,
                  outcome_summary(*samples.failure));
    sample_once(id, count - static_cast<int>(samples.samples_us.size()), samples);
    if (samples.failure) {
      samples.failure = confirmed(*samples.failure);
    }
  }
  if (samples.failure) {
    held_.erase(id);
  }
  return samples;
}

std::optional<Outcome> RemoteMeasurer::recheck_once(CandidateId id) {
  if (held_.at(id).worker != workers_started_ || worker_ == nullptr) {
    if (std::optional<Outcome> failure = readmit(id)) {
      return failure;
    }
  }
  const bool alone = admissions_here_ == 1;
  Reply reply = ask(candidate_message("recheck", id), deadlines_.runs(1));
  std::optional<Outcome> failure;
  if (auto* death = std::get_if<Death>(&reply)) {
    failure = std::move(death->outcome);
  } else if (const auto& message = std::get<Message>(reply); type_of(message) != "done") {
    failure = failure_of(message);
  }
  note(alone, failure);
  return failure;
}

std::optional<Outcome> RemoteMeasurer::recheck(CandidateId id) {
  std::optional<Outcome> failure = recheck_once(id);
  if (must_confirm()) {
    failure = recheck_once(id);
    failure = failure ? std::optional(confirmed(*failure)) : std::nullopt;
  }
  if (failure) {
    held_.erase(id);
  }
  return failure;
}

void RemoteMeasurer::retire(CandidateId id) {
  const auto found = held_.find(id);
  const bool in_worker =
      found != held_.end() && worker_ != nullptr && found->second.worker == workers_started_;
  held_.erase(id);
  if (in_worker) {
    // Whatever kills a worker here is nobody's fault that could be proved; the next step gets a
    // fresh one.
    static_cast<void>(ask(candidate_message("retire", id), deadlines_.runs(1)));
  }
}

}  // namespace fatune
