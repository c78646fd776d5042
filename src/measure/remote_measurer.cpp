#include "measure/remote_measurer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace fatune {
namespace {

constexpr int kMostCrashes = 3;  // limit for a candidate that runs well alone

enum class Blame { candidate, perhaps_others, nobody };

// A crash of a worker that others had used may be their fault.
Blame blame_for(const Outcome& failure, const RemoteWorker& worker) {
  if (worker.runs() || !std::holds_alternative<Crashed>(failure)) {
    return Blame::candidate;
  }
  if (worker.was_killed()) {
    return Blame::nobody;
  }
  return worker.is_used_by_one() ? Blame::candidate : Blame::perhaps_others;
}

// Adds to a crash how it was proved.
Outcome with_proof(Outcome outcome, const std::string& proof) {
  if (auto* crashed = std::get_if<Crashed>(&outcome)) {
    crashed->error = fmt::format("{} ({})", crashed->error, proof);
  }
  return outcome;
}

[[noreturn]] void fail_rates(const std::string& why) {
  throw Error(ExitCode::gpu_failure, "the rates of products and reads cannot be measured: " + why);
}

}  // namespace

std::optional<Outcome> RemoteMeasurer::find_own_failure(CandidateId id, const std::string& label,
                                                        const Step& step) {
  bool suspected = false;
  for (int kills = 0;;) {
    const std::optional<Outcome> failure = step();
    if (!failure) {
      return std::nullopt;
    }
    spdlog::debug("{}: {}", label, outcome_summary(*failure));
    const Blame blame = blame_for(*failure, worker_);
    if (blame == Blame::nobody && ++kills <= kKillsForgiven) {
      continue;
    }
    if (blame == Blame::nobody) {
      return with_proof(*failure, fmt::format("{} times in a row; the system kills processes when "
                                              "memory runs out",
                                              kills));
    }
    if (blame == Blame::perhaps_others && ++crashes_[id] >= kMostCrashes) {
      return with_proof(*failure, fmt::format("crash number {} of this configuration, each "
                                              "time after others had run",
                                              kMostCrashes));
    }
    if (blame == Blame::candidate) {
      return suspected ? with_proof(*failure, "again when run alone in a fresh process") : *failure;
    }
    suspected = true;
  }
}

void RemoteMeasurer::begin_problem(const Problem& problem, const Artifact& kernels,
                                   const std::optional<Problem>& part) {
  settle_ahead();
  held_.clear();
  failed_ahead_.clear();
  verified_ahead_.clear();
  crashes_.clear();
  worker_.begin_problem({problem, kernels, part});
}

std::optional<Outcome> RemoteMeasurer::judged(CandidateId id, const std::string& label,
                                              const Step& step) {
  std::optional<Outcome> failure = find_own_failure(id, label, step);
  if (failure) {
    forget(id);
  }
  return failure;
}

void RemoteMeasurer::forget(CandidateId id) {
  held_.erase(id);
  failed_ahead_.erase(id);
  verified_ahead_.erase(id);
  crashes_.erase(id);
}

// --- Admission ---

Admission RemoteMeasurer::admit_once(CandidateId id, const CandidateKernel& kernel) {
  settle_ahead();
  worker_.ensure();
  worker_.conversation().forget_output();
  worker_.note_admission();
  const AddedSeconds busy = worker_.busy();
  auto answer = worker_.conversation().read_reply(
      worker_.conversation().ask(admit_message(id, kernel), worker_.deadlines().verification()),
      "admitted", read_message<Admission>);
  if (auto* failure = std::get_if<Outcome>(&answer)) {
    return {{}, 0.0, std::move(*failure)};
  }
  Admission& admission = std::get<Admission>(answer);
  held_.insert_or_assign(id, Held{kernel, worker_.number()});
  saw_sample(admission.first_us, kernel.part_geometry ? Extent::part : Extent::whole);
  return std::move(admission);
}

Admission RemoteMeasurer::admit(CandidateId id, const CandidateKernel& kernel) {
  Admission admission;
  std::optional<Outcome> failure = judged(id, kernel.label, [&] {
    admission = admit_once(id, kernel);
    return admission.failure;
  });
  admission.failure = std::move(failure);
  return admission;
}

std::optional<Outcome> RemoteMeasurer::make_ready(CandidateId id) {
  if (const auto failed = failed_ahead_.find(id); failed != failed_ahead_.end()) {
    return failed->second;
  }
  return is_in_worker(id) ? std::nullopt : admit_once(id, held_.at(id).kernel).failure;
}

void RemoteMeasurer::retire(CandidateId id) {
  settle_ahead();
  const bool in_worker = is_in_worker(id);
  forget(id);
  if (in_worker) {
    // A worker that dies here cannot be blamed on a candidate; the next step gets a fresh one.
    static_cast<void>(worker_.conversation().ask(message_of("retire", {}, ForCandidate{id}),
                                                 worker_.deadlines().runs(1)));
  }
}

// --- Samples that are begun before the previous one is known ---

std::optional<Death> RemoteMeasurer::tell(CandidateId id, const SampleRequest& request) {
  Conversation& conversation = worker_.conversation();
  const auto within = worker_.deadlines().sample();
  std::optional<Death> death;
  if (!is_ahead(id, request)) {
    death = conversation.tell(message_of("sample", {}, ForCandidate{id}, request), within);
  }
  ahead_.reset();
  if (!death && request.then && request.count == 1 && is_in_worker(*request.then)) {
    ahead_ = Ahead{*request.then, request.round, request.extent, worker_.number()};
    death =
        conversation.tell(message_of("sample", {}, ForCandidate{*request.then}, request), within);
  }
  return death;
}

// If the worker dies of the sample, it takes all candidates with it, and they are admitted again.
void RemoteMeasurer::settle_ahead() {
  const std::optional<Ahead> ahead = std::exchange(ahead_, std::nullopt);
  if (!is_under_way(ahead)) {
    return;
  }
  Conversation& conversation = worker_.conversation();
  const auto answer = conversation.read_reply(conversation.await(worker_.deadlines().sample()),
                                              "sampled", read_message<OneSample>);
  const auto* failure = std::get_if<Outcome>(&answer);
  if (failure != nullptr && worker_.runs()) {
    failed_ahead_.insert_or_assign(ahead->id, *failure);
  }
  const auto* sample = std::get_if<OneSample>(&answer);
  if (sample != nullptr && sample->verification) {
    verified_ahead_.insert_or_assign(ahead->id, *sample->verification);
  }
}

// --- Samples ---

// Takes the samples of `request`; the first `discarded` do not count.
std::optional<Outcome> RemoteMeasurer::take_samples(CandidateId id, int discarded,
                                                    const SampleRequest& request,
                                                    Samples& samples) {
  const AddedSeconds busy = worker_.busy();
  Conversation& conversation = worker_.conversation();
  if (std::optional<Death> death = tell(id, request)) {
    return std::move(death->outcome);
  }
  if (auto known = verified_ahead_.extract(id)) {
    samples.verification = std::move(known.mapped());
  }
  Reply reply = conversation.await(worker_.deadlines().sample());
  for (int taken = 1;; ++taken) {
    auto answer = conversation.read_reply(std::move(reply), "sampled", read_message<OneSample>);
    if (auto* failure = std::get_if<Outcome>(&answer)) {
      return std::move(*failure);
    }
    const auto& one = std::get<OneSample>(answer);
    saw_sample(one.sample_us, request.extent);
    samples.gate_in_use = samples.gate_in_use && one.gate_in_use;
    samples.deterministic = samples.deterministic && one.deterministic;
    if (one.verification) {
      samples.verification = one.verification;
    }
    if (taken > discarded) {
      samples.samples_us.push_back(one.sample_us);
      samples.readings.push_back(one.reading);
    }
    if (taken == request.count) {
      return std::nullopt;
    }
    reply = conversation.await(worker_.deadlines().sample());
  }
}

std::optional<Outcome> RemoteMeasurer::sample_once(CandidateId id, const SampleRequest& request,
                                                   Samples& samples) {
  if (!is_ahead(id, request)) {
    settle_ahead();
  }
  const int discarded = is_in_worker(id) ? 0 : std::max(0, policy().warmup);
  if (std::optional<Outcome> failure = make_ready(id)) {
    return failure;
  }
  SampleRequest all = request;
  all.count += discarded;
  return take_samples(id, discarded, all, samples);
}

Samples RemoteMeasurer::sample(CandidateId id, const SampleRequest& request) {
  Samples samples;
  samples.gate_in_use = policy().device_gate;
  samples.failure = judged(id, held_.at(id).kernel.label, [&] {
    const auto taken = static_cast<int>(samples.samples_us.size());
    SampleRequest left = request;
    left.count -= taken;
    left.round += taken;
    return sample_once(id, left, samples);
  });
  return samples;
}

// --- Other steps ---

std::optional<Outcome> RemoteMeasurer::recheck_once(CandidateId id) {
  settle_ahead();
  if (std::optional<Outcome> failure = make_ready(id)) {
    return failure;
  }
  const AddedSeconds busy = worker_.busy();
  Conversation& conversation = worker_.conversation();
  const auto answer = conversation.read_reply(
      conversation.ask(message_of("recheck", {}, ForCandidate{id}), worker_.deadlines().sample()),
      "done", [](const Message&) { return true; });
  const auto* failure = std::get_if<Outcome>(&answer);
  return failure == nullptr ? std::nullopt : std::optional(*failure);
}

// Throws the worker's Error if it cannot count at all, because no candidate is to blame for that.
Counted RemoteMeasurer::count_once(CandidateId id, const CountRequest& request) {
  settle_ahead();
  if (std::optional<Outcome> failure = make_ready(id)) {
    return {{}, std::move(failure)};
  }
  const AddedSeconds busy = worker_.busy();
  Conversation& conversation = worker_.conversation();
  Reply reply = conversation.ask(message_of("count", {}, ForCandidate{id}, request),
                                 worker_.deadlines().counting(request.runs));
  const auto* message = std::get_if<Message>(&reply);
  const bool failed = message != nullptr && type_of(*message) == "failed";
  auto answer = conversation.read_reply(std::move(reply), failed ? "failed" : "counted",
                                        [&](const Message& counted) {
                                          if (failed) {
                                            throw read_error(counted);
                                          }
                                          return read_message<Counted>(counted);
                                        });
  if (auto* failure = std::get_if<Outcome>(&answer)) {
    return {{}, std::move(*failure)};
  }
  return std::get<Counted>(std::move(answer));
}

Counted RemoteMeasurer::count(CandidateId id, const CountRequest& request) {
  Counted counted;
  std::optional<Outcome> failure = judged(id, held_.at(id).kernel.label, [&] {
    counted = count_once(id, request);
    return counted.failure;
  });
  counted.failure = std::move(failure);
  return counted;
}

// --- Without a problem ---

DeviceRates RemoteMeasurer::device_rates(const Artifact& kernel) {
  settle_ahead();
  worker_.ensure();
  Conversation& conversation = worker_.conversation();
  conversation.forget_output();
  const AddedSeconds busy = worker_.busy();
  const Reply reply = conversation.ask(rates_request_message(kernel), worker_.deadlines().start());
  if (const auto* death = std::get_if<Death>(&reply)) {
    fail_rates(outcome_summary(death->outcome));
  }
  const auto& message = std::get<Message>(reply);
  try {
    if (type_of(message) == "rates") {
      return read_message<DeviceRates>(message);
    }
    const std::string why = type_of(message) == "failed"
                                ? read_error(message).what()
                                : fmt::format("an answer '{}'", type_of(message));
    conversation.drop();  // its context may be dead
    fail_rates(why);
  } catch (const ProtocolError& error) {
    fail_rates(outcome_summary(conversation.nonsense(error.what())));
  }
}

DebugResult RemoteMeasurer::run_for_debug(const DebugRequest& request) {
  worker_.ensure();
  worker_.deadlines().begin_problem(request.problem, worker_.limits().sm_count);
  Conversation& conversation = worker_.conversation();
  conversation.forget_output();
  return conversation.read_reply(
      conversation.ask(debug_message(request), worker_.deadlines().runs(1)), "debugged",
      [&](const Message& message) { return read_debugged(message, request); });
}

}  // namespace fatune
