#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "engine/compile_feed.hpp"
#include "engine/problem_plan.hpp"
#include "plan/family_set.hpp"
#include "report/report.hpp"

namespace fatune {

/// A configuration on its way from its machine code to its outcome.
struct Candidate {
  Entry entry;
  LaunchGeometry geometry;
  LaunchGeometry probe_geometry;                 ///< on probe_problem()
  std::optional<LaunchGeometry> small_geometry;  ///< on small_problem(), if the code is the same
  std::shared_ptr<const Artifact> artifact;      ///< null before it is compiled, and if that failed
};

/// One problem with its candidates.
struct ProblemWork {
  const ProblemPlan* plan = nullptr;
  std::vector<Candidate> candidates;  ///< likely winners first
  std::vector<Entry> obstacles;       ///< that nothing need be compiled for: the outcome is known
  [[nodiscard]] Candidate& at(CandidateId id) { return candidates.at(id.index); }
  [[nodiscard]] const Candidate& at(CandidateId id) const { return candidates.at(id.index); }

  /// Makes both launches of a candidate those of its artifact; empty: they do not depend on it.
  std::function<void(Candidate&)> finish_launch = {};
};

/// The compilations, with their candidates, in order.
struct CompileList {
  std::vector<CompileRequest> requests;
  std::vector<CandidateKey> owners;  ///< of the requests
};

/// The problem's work, its candidates in the order of their guessed times. All must outlive it.
[[nodiscard]] ProblemWork lay_out(const FamilySet& families, const DeviceLimits& limits,
                                  const ProblemPlan& plan);

/// Requests of the problems in the given order (indices into `works`).
[[nodiscard]] CompileList list_requests(const FamilySet& families, const DeviceLimits& limits,
                                        const std::vector<ProblemWork>& works,
                                        const std::vector<std::size_t>& order);

}  // namespace fatune
