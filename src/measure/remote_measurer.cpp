#include "measure/remote_measurer.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "measure/added_seconds.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

constexpr int kStartAttempts = 3;
constexpr int kKillsForgiven = 5;  // in a row
constexpr int kMostCrashes = 3;    // of a candidate, when it runs well alone
constexpr milliseconds kNoGrace{0};
constexpr milliseconds kEndGrace{2000};
constexpr milliseconds kLauncherEndGrace{120'000};  // a profiler writes its report then
// A worker that closed its connection is about to end, and how it ends says what happened; the
// driver's tearing down takes its time.
constexpr milliseconds kDeathGrace{10'000};

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

// A crash with how it was proved.
Outcome with_proof(const Outcome& outcome, const std::string& proof) {
  return is_crash(outcome) ? Outcome{Crashed{fmt::format("{} ({})", text_of(outcome), proof)}}
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
      finish_worker();
    }
  } catch (const std::exception& error) {
    spdlog::debug("the worker could not be told to end: {}", error.what());
  }
}

// --- The worker ---

// Also begins the problem, if there is one. Nothing is known to be wrong with either: what fails is
// the device, or the program.
void RemoteMeasurer::ensure_worker() {
  int kills = 0;
  for (int attempt = 1; worker_ == nullptr; ++attempt) {
    killed_ = false;
    try {
      start_worker();
      if (problem_) {
        start_problem();
      }
    } catch (const Error& error) {
      drop_worker();
      attempt -= killed_ && ++kills <= kKillsForgiven ? 1 : 0;
      if (attempt == kStartAttempts || error.code() != ExitCode::gpu_failure) {
        throw;
      }
      spdlog::debug("starting a worker again: {}", error.what());
    }
  }
}

void RemoteMeasurer::start_worker() {
  const AddedSeconds starting(start_s_);
  worker_ = std::make_unique<WorkerProcess>(settings_.command);
  ++workers_started_;
  admissions_here_ = 0;
  const Reply reply = ask(
      hello_message({kProtocolVersion, settings_.device_ordinal, policy(), settings_.count_rows}),
      deadlines_.start());
  if (const auto* death = std::get_if<Death>(&reply)) {
    throw Error(ExitCode::gpu_failure,
                "the worker process did not start: " + outcome_summary(death->outcome),
                settings_.command.program, "'fatune doctor' checks the driver and the GPU");
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

void RemoteMeasurer::start_problem() {
  const AddedSeconds busy(busy_s_);
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

milliseconds RemoteMeasurer::patience(milliseconds grace) const {
  const bool launched = !settings_.command.launcher.empty();
  return launched && grace > kNoGrace ? kLauncherEndGrace : grace;
}

void RemoteMeasurer::finish_worker() {
  static_cast<void>(
      worker_->channel().send(plain_message("shutdown"), Channel::Clock::now() + kEndGrace));
  worker_->end(patience(kEndGrace));
}

RemoteMeasurer::Death RemoteMeasurer::died(const std::string& how, milliseconds grace) {
  const WorkerEnd end = worker_->end(patience(grace));
  const std::string what = with_output(fmt::format("{}: {}", how, end.text), worker_->output());
  killed_ = end.killed_by_others;
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
    return died("the worker process died", kDeathGrace);
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
      worker_->end(patience(kEndGrace));
      if (is_crash(rejection.outcome)) {
        rejection.outcome = Crashed{with_output(text_of(rejection.outcome), worker_->output())};
      }
    }
    if (rejection.lost || wrote_outside(rejection.outcome)) {
      if (!rejection.lost && !settings_.command.launcher.empty()) {
        finish_worker();  // the tool is to write its report
      }
      drop_worker();
    }
    return rejection.outcome;
  } catch (const ProtocolError& error) {
    return nonsense(error.what());
  }
}

// The failure of a step that counts, after as many repetitions as it takes to know.
std::optional<Outcome> RemoteMeasurer::judged(CandidateId id, const std::string& label,
                                              const Step& step) {
  bool suspected = false;
  for (int kills = 0;;) {
    const std::optional<Outcome> failure = step();
    if (!failure) {
      return std::nullopt;
    }
    spdlog::debug("{}: {}", label, outcome_summary(*failure));
    if (blame_ == Blame::nobody && ++kills <= kKillsForgiven) {
      continue;
    }
    if (blame_ == Blame::nobody) {
      return with_proof(*failure, fmt::format("{} times in a row; the system kills processes when "
                                              "memory runs out",
                                              kills));
    }
    if (blame_ == Blame::perhaps_others && ++crashes_[id] >= kMostCrashes) {
      return with_proof(*failure, fmt::format("its crash number {}, each time after others had "
                                              "run",
                                              kMostCrashes));
    }
    if (blame_ == Blame::candidate) {
      return suspected ? with_proof(*failure, "again when run alone in a fresh process") : *failure;
    }
    suspected = true;
  }
}

// --- Steps ---

void RemoteMeasurer::begin_problem(const Problem& problem, const Artifact& kernels) {
  held_.clear();
  crashes_.clear();
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

Admission RemoteMeasurer::admission_of(CandidateId id, const CandidateKernel& candidate,
                                       Reply reply) {
  if (auto* death = std::get_if<Death>(&reply)) {
    return {{}, 0.0, std::move(death->outcome)};
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) != "admitted") {
    return {{}, 0.0, failure_of(message)};
  }
  try {
    Admission admission = read_admitted(message);
    held_.insert_or_assign(id, Held{candidate, workers_started_});
    deadlines_.saw_sample(admission.first_us);
    return admission;
  } catch (const ProtocolError& error) {
    return {{}, 0.0, nonsense(error.what())};
  }
}

// A crash that took a worker along which others had used may be theirs.
void RemoteMeasurer::note(bool alone, const std::optional<Outcome>& failure) {
  const bool crash = worker_ == nullptr && failure.has_value() && is_crash(*failure);
  blame_ = crash && !alone ? Blame::perhaps_others : Blame::candidate;
  if (crash && killed_) {
    blame_ = Blame::nobody;
  }
}

Admission RemoteMeasurer::admit_once(CandidateId id, const CandidateKernel& candidate) {
  ensure_worker();
  killed_ = false;
  worker_->forget_output();
  const bool alone = ++admissions_here_ == 1;
  const AddedSeconds busy(busy_s_);
  Admission admission =
      admission_of(id, candidate, ask(admit_message(id, candidate), deadlines_.verification()));
  note(alone, admission.failure);
  return admission;
}

Admission RemoteMeasurer::admit(CandidateId id, const CandidateKernel& candidate) {
  Admission admission;
  std::optional<Outcome> failure = judged(id, candidate.label, [&] {
    admission = admit_once(id, candidate);
    return admission.failure;
  });
  if (failure) {
    forget(id);
  }
  admission.failure = std::move(failure);
  return admission;
}

std::string RemoteMeasurer::label_of(CandidateId id) const { return held_.at(id).candidate.label; }

void RemoteMeasurer::forget(CandidateId id) {
  held_.erase(id);
  crashes_.erase(id);
}

std::optional<Outcome> RemoteMeasurer::readmit(CandidateId id) {
  return admit_once(id, held_.at(id).candidate).failure;
}

std::optional<Outcome> RemoteMeasurer::readmit_if_gone(CandidateId id) {
  const bool here = held_.at(id).worker == workers_started_ && worker_ != nullptr;
  return here ? std::nullopt : readmit(id);
}

void RemoteMeasurer::add(const OneSample& one, bool counts, Samples& samples) {
  deadlines_.saw_sample(one.sample_us);
  samples.gate_in_use = samples.gate_in_use && one.gate_in_use;
  samples.deterministic = samples.deterministic && one.deterministic;
  if (counts) {
    samples.samples_us.push_back(one.sample_us);
    samples.readings.push_back(one.reading);
  }
}

// Takes the samples of `request`; the first `discarded` do not count.
std::optional<Outcome> RemoteMeasurer::take_samples(CandidateId id, int discarded,
                                                    const SampleRequest& request,
                                                    Samples& samples) {
  const AddedSeconds busy(busy_s_);
  Reply reply = ask(sample_message(id, request), deadlines_.runs(1));
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
    if (taken == request.count) {
      return std::nullopt;
    }
    reply = await(deadlines_.runs(1));
  }
}

void RemoteMeasurer::sample_once(CandidateId id, const SampleRequest& request, Samples& samples) {
  const bool anew = held_.at(id).worker != workers_started_ || worker_ == nullptr;
  samples.failure = anew ? readmit(id) : std::nullopt;
  if (samples.failure) {
    return;
  }
  const bool alone = admissions_here_ == 1;
  const int discarded = anew ? std::max(0, policy().warmup) : 0;
  samples.failure =
      take_samples(id, discarded, {request.count + discarded, request.round}, samples);
  note(alone, samples.failure);
}

Samples RemoteMeasurer::sample_in_round(CandidateId id, int count, int round) {
  Samples samples;
  samples.gate_in_use = policy().device_gate;
  std::optional<Outcome> failure = judged(id, label_of(id), [&] {
    const auto taken = static_cast<int>(samples.samples_us.size());
    sample_once(id, {count - taken, round + taken}, samples);
    return samples.failure;
  });
  samples.failure = std::move(failure);
  if (samples.failure) {
    forget(id);
  }
  return samples;
}

std::optional<Outcome> RemoteMeasurer::recheck_once(CandidateId id) {
  if (std::optional<Outcome> failure = readmit_if_gone(id)) {
    return failure;
  }
  const bool alone = admissions_here_ == 1;
  const AddedSeconds busy(busy_s_);
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
  std::optional<Outcome> failure = judged(id, label_of(id), [&] { return recheck_once(id); });
  if (failure) {
    forget(id);
  }
  return failure;
}

// Throws the Error with which the worker cannot count at all: no candidate is to blame for that.
Counted RemoteMeasurer::counted_of(Reply reply) {
  if (auto* death = std::get_if<Death>(&reply)) {
    return {{}, std::move(death->outcome)};
  }
  const auto& message = std::get<Message>(reply);
  if (type_of(message) != "counted" && type_of(message) != "failed") {
    return {{}, failure_of(message)};
  }
  try {
    if (type_of(message) == "failed") {
      throw read_error(message);
    }
    return read_counted(message);
  } catch (const ProtocolError& error) {
    return {{}, nonsense(error.what())};
  }
}

Counted RemoteMeasurer::count_once(CandidateId id, const CountRequest& request) {
  if (std::optional<Outcome> failure = readmit_if_gone(id)) {
    return {{}, std::move(failure)};
  }
  const bool alone = admissions_here_ == 1;
  const AddedSeconds busy(busy_s_);
  Counted counted = counted_of(ask(count_message(id, request), deadlines_.counting(request.runs)));
  note(alone, counted.failure);
  return counted;
}

Counted RemoteMeasurer::count(CandidateId id, const CountRequest& request) {
  Counted counted;
  std::optional<Outcome> failure = judged(id, label_of(id), [&] {
    counted = count_once(id, request);
    return counted.failure;
  });
  if (failure) {
    forget(id);
  }
  counted.failure = std::move(failure);
  return counted;
}

void RemoteMeasurer::retire(CandidateId id) {
  const auto found = held_.find(id);
  const bool in_worker =
      found != held_.end() && worker_ != nullptr && found->second.worker == workers_started_;
  forget(id);
  if (in_worker) {
    // A worker that dies here cannot be blamed on a candidate; the next step gets a fresh one.
    static_cast<void>(ask(candidate_message("retire", id), deadlines_.runs(1)));
  }
}

}  // namespace fatune
