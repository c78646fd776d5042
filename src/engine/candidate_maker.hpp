#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "model/config.hpp"
#include "model/device_limits.hpp"
#include "model/emulation.hpp"
#include "model/kernel_code.hpp"
#include "model/outcome.hpp"
#include "model/problem.hpp"
#include "model/report.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"
#include "plan/problem_plan.hpp"
#include "race/candidate_source.hpp"

namespace fatune {

/// The launch on a device that has room for all blocks at once. A persistent kernel, whose blocks
/// share the tiles, then has one block per tile. A grid that does not depend on the number of SMs
/// does not change.
[[nodiscard]] LaunchGeometry spread_launch(const ConfigCase& of, const LaunchGeometry& launch);

/// Returns the number of tiles of a problem: the blocks on a device with room for all, if the
/// problem had a single key. Blocks that share the keys of a tile then are one. Nothing if no
/// number of SMs is large enough, or if the kernel cannot be launched on the problem.
[[nodiscard]] std::optional<std::int64_t> count_tiles(const ConfigCase& of);

/// What is known about the code of a kernel that has not been run.
struct KnownCode {
  /// Whether it multiplies matrices on the tensor cores. A family that does not say how much work
  /// they have is taken to give them all products or none.
  bool uses_tensor_cores = true;
  std::optional<CountedWork> counted = std::nullopt;
};

/// Estimates the time of a result that has not been run (docs/estimate.md). It uses the family's
/// model or, without it, the counted work or, without that, the family's quantities, and what is
/// known about the machine code. Precondition: a block fits an SM.
[[nodiscard]] Estimated estimate_result(const ConfigCase& of, const Result& result,
                                        const LaunchGeometry& geometry, const SmRates& rates,
                                        const KnownCode& code = {});

/// Whether PTX has an instruction that the tensor cores execute.
[[nodiscard]] bool uses_tensor_cores(std::string_view ptx);

/// A guess about a configuration that was not compiled.
struct Guess {
  Estimated estimate;     ///< good only for ordering
  int blocks_per_sm = 0;  ///< what a typical number of registers allows
};
[[nodiscard]] Guess guess(const ConfigCase& of, const Result& result,
                          const LaunchGeometry& geometry, const SmRates& rates);

/// The obstacle to a configuration on a problem before compilation: Invalid or Unlaunchable.
[[nodiscard]] std::optional<Outcome> find_obstacle(const ConfigCase& of);

/// The number of the kernel's blocks that fit an SM at a time.
[[nodiscard]] int resident_blocks(const Artifact& artifact, const LaunchGeometry& geometry,
                                  const DeviceLimits& limits);

/// Adds what the machine code and its launch cost. Returns the reason if the arguments do not match
/// or no SM can hold a block.
[[nodiscard]] std::optional<Unlaunchable> add_artifact(const Artifact& artifact,
                                                       const LaunchGeometry& geometry,
                                                       const DeviceLimits& limits, Result& result);

/// The reason why the machine code is not worth measuring: ptxas notes that it serialised
/// asynchronous products, or ignored setmaxnreg. Empty: there is none.
[[nodiscard]] std::optional<Serialized> find_serialization(const ResourceFacts& facts);

/// Orders report.audited (fastest first, those without a time last) and fills report.audit. For
/// each of the space's rules it says how many configurations the rule dropped on this problem and,
/// estimated from those that were tried anyway, what the rule saved and cost. Precondition: the
/// ranking is made.
void add_audit(const ProblemPlan& plan, ProblemReport& report);

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
  /// `part`: the part of the problem (part_of()). `families` and `limits` must outlive
  /// this.
  CandidateMaker(const FamilySet& families, const DeviceLimits& limits, const SmRates& rates,
                 const Problem& problem, const std::optional<Problem>& part = std::nullopt)
      : families_(families),
        limits_(limits),
        rates_(rates),
        problem_(problem),
        probe_(probe_problem(problem)),
        small_(small_problem(problem)),
        part_(part) {}

  /// A guess of the configuration's time (SearchPoint::guess_us).
  [[nodiscard]] double guess_us(const Config& config);
  /// Makes a candidate, or only a result if nothing must be compiled because the outcome is known.
  [[nodiscard]] std::variant<Candidate, Result> make(const Proposal& proposal);
  [[nodiscard]] std::string short_form_of(const Config& config) const {
    return short_form(families_.of(config), config);
  }
  [[nodiscard]] Result make_pruned(const PrunedConfig& pruned) const;
  [[nodiscard]] CompileRequest request(const Config& config) const {
    return compile_request(case_of(config, problem_));
  }
  /// Recomputes the launches of a candidate with the facts of its artifact.
  void finish_launch(Candidate& candidate) const;

 private:
  /// A result with its launch. No launch: the outcome is known.
  struct Prepared {
    Result result;
    std::optional<LaunchGeometry> geometry;
  };

  [[nodiscard]] Prepared prepare(const Config& config) const;
  /// Precondition: `prepared` has a launch.
  [[nodiscard]] Guess guess_of(const Prepared& prepared) const {
    return guess(case_of(prepared.result.config, problem_), prepared.result, *prepared.geometry,
                 rates_);
  }
  [[nodiscard]] ConfigCase case_of(const Config& config, const Problem& problem) const {
    return {families_.of(config), config, problem, limits_};
  }
  [[nodiscard]] bool has_small_launch(const Config& config) const;

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
