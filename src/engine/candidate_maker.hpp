#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>

#include "attention/problem.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "engine/problem_plan.hpp"
#include "engine/work_estimate.hpp"
#include "plan/family.hpp"
#include "report/report.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// A configuration on its way from its machine code to its outcome.
struct Candidate {
  Result result;
  LaunchGeometry geometry;
  LaunchGeometry probe_geometry;                 ///< the launch on probe_problem()
  std::optional<LaunchGeometry> small_geometry;  ///< launches small_problem(), if possible
  std::optional<LaunchGeometry> part_geometry;  ///< the launch on the problem's part, if it has one
  std::shared_ptr<const Artifact> artifact;     ///< null before it is compiled, and if that failed
};

/// Makes candidates from the configurations of one problem.
class CandidateMaker {
 public:
  /// `part`: the part of the problem (part_of_problem.hpp). `families` and `limits` must outlive
  /// this.
  CandidateMaker(const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
                 const Problem& problem, const std::optional<Problem>& part = std::nullopt);

  /// A guess of the configuration's time (SearchPoint::guess_us).
  [[nodiscard]] double guess_us(const Config& config);
  /// Makes a candidate, or only a result if nothing must be compiled because the outcome is known.
  [[nodiscard]] std::variant<Candidate, Result> make(const Proposal& proposal);
  [[nodiscard]] std::string short_form_of(const Config& config) const;
  [[nodiscard]] Result make_pruned(const PrunedConfig& pruned) const;
  [[nodiscard]] CompileRequest request(const Config& config) const;
  /// Recomputes the launches of a candidate with the facts of its artifact.
  void finish_launch(Candidate& candidate) const;

 private:
  /// A result with its launch. No launch: the outcome is known.
  struct Prepared {
    Result result;
    std::optional<LaunchGeometry> geometry;
  };

  [[nodiscard]] Prepared prepare(const Config& config) const;
  [[nodiscard]] Guess guess_of(const Prepared& prepared) const;
  [[nodiscard]] bool has_small_launch(const Family& family, const Config& config) const;

  const FamilySet& families_;
  const DeviceLimits& limits_;
  SmRates rates_;
  Problem problem_;
  Problem probe_;
  Problem small_;
  std::optional<Problem> part_;
  std::int64_t proposals_ = 0;          ///< number of proposals made so far
  std::map<Config, Prepared> guessed_;  ///< guessed, but not made since
};

}  // namespace fatune
