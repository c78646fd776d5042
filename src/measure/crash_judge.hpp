#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/candidate_id.hpp"
#include "core/outcome.hpp"
#include "measure/remote_worker.hpp"

namespace fatune {

/// Decides which failures are the candidate's own; see RemoteMeasurer.
class CrashJudge {
 public:
  /// Does something with the candidate in the worker, and gives its failure.
  using Step = std::function<std::optional<Outcome>()>;

  /// The failure of the step that counts, after as many repetitions as it takes to know.
  [[nodiscard]] std::optional<Outcome> judge(CandidateId id, const std::string& label,
                                             const RemoteWorker& worker, const Step& step);
  void forget(CandidateId id) { crashes_.erase(id); }
  void forget_all() { crashes_.clear(); }

 private:
  std::map<CandidateId, int> crashes_;  // of workers that others had used
};

}  // namespace fatune
