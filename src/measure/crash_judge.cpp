#include "measure/crash_judge.hpp"

#include <spdlog/spdlog.h>

#include <fmt/format.h>

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

}  // namespace

std::optional<Outcome> CrashJudge::judge(CandidateId id, const std::string& label,
                                         const RemoteWorker& worker, const Step& step) {
  bool suspected = false;
  for (int kills = 0;;) {
    const std::optional<Outcome> failure = step();
    if (!failure) {
      return std::nullopt;
    }
    spdlog::debug("{}: {}", label, outcome_summary(*failure));
    const Blame blame = blame_for(*failure, worker);
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

}  // namespace fatune
