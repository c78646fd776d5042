#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/candidate_list.hpp"
#include "core/outcome.hpp"
#include "measure/remote_worker.hpp"

namespace fatune {

/// Decides which failures are the candidate's own; see RemoteMeasurer.
class CrashJudge {
 public:
  /// Uses the candidate in the worker, and returns its failure.
  using Step = std::function<std::optional<Outcome>()>;

  /// Repeats the step as often as it takes to know whose fault a failure is. Returns the failure
  /// that counts. Empty: there is none.
  [[nodiscard]] std::optional<Outcome> judge(CandidateId id, const std::string& label,
                                             const RemoteWorker& worker, const Step& step);
  void forget(CandidateId id) { crashes_.erase(id); }
  void forget_all() { crashes_.clear(); }

 private:
  std::map<CandidateId, int> crashes_;  // crashes in workers that others had used
};

}  // namespace fatune
