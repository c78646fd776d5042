#include "engine/candidate_maker.hpp"

#include <utility>

#include "attention/problem.hpp"
#include "engine/results.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

namespace fatune {
namespace {

/// Whether two requests give the same machine code.
bool is_same_code(const CompileRequest& a, const CompileRequest& b) {
  return a.sources == b.sources && a.defines == b.defines && a.options == b.options &&
         a.entry_point == b.entry_point;
}

}  // namespace

CandidateMaker::CandidateMaker(const FamilySet& families, const DeviceLimits& limits,
                               const SmRates& rates, const Problem& problem,
                               const std::optional<Problem>& part)
    : families_(families),
      limits_(limits),
      rates_(rates),
      problem_(problem),
      probe_(probe_problem(problem)),
      small_(small_problem(problem)),
      part_(part) {}

CandidateMaker::Prepared CandidateMaker::prepare(const Config& config) const {
  const Family& family = families_.of(config);
  Prepared prepared{make_result(family, config), std::nullopt};
  prepared.result.total_flop = find_quantity(family, config, problem_, limits_, "total_flop");
  if (auto obstacle = find_obstacle(family, config, problem_, limits_)) {
    prepared.result.outcome = *std::move(obstacle);
  } else {
    prepared.geometry = launch_geometry(family, config, problem_, limits_);
  }
  return prepared;
}

double CandidateMaker::guess_us(const Config& config) {
  const Prepared& prepared = guessed_.insert_or_assign(config, prepare(config)).first->second;
  return prepared.geometry ? guess_of(prepared).estimate.estimate_us : 0.0;
}

/// Precondition: `prepared` has a launch.
Guess CandidateMaker::guess_of(const Prepared& prepared) const {
  return guess(families_.of(prepared.result.config), prepared.result, *prepared.geometry, problem_,
               limits_, rates_);
}

std::variant<Candidate, Result> CandidateMaker::make(const Proposal& proposal) {
  const Config& config = proposal.config;
  auto guessed = guessed_.extract(config);
  Prepared prepared = guessed ? std::move(guessed.mapped()) : prepare(config);
  prepared.result.pruned_by = proposal.pruned_by;
  prepared.result.proposed_by = proposal.proposed_by;
  prepared.result.proposal = ++proposals_;
  if (!prepared.geometry) {
    return std::move(prepared.result);
  }
  const Family& family = families_.of(config);
  Candidate candidate{std::move(prepared.result),
                      *prepared.geometry,
                      launch_geometry(family, config, probe_, limits_),
                      std::nullopt,
                      std::nullopt,
                      nullptr};
  if (part_) {
    candidate.part_geometry = launch_geometry(family, config, *part_, limits_);
  }
  if (has_small_launch(family, config)) {
    candidate.small_geometry = launch_geometry(family, config, small_, limits_);
  }
  return candidate;
}

std::string CandidateMaker::short_form_of(const Config& config) const {
  return short_form(families_.of(config), config);
}

Result CandidateMaker::make_pruned(const PrunedConfig& pruned) const {
  Result result = make_result(families_.of(pruned.config), pruned.config);
  result.outcome = pruned.why;
  return result;
}

CompileRequest CandidateMaker::request(const Config& config) const {
  return compile_request(families_.of(config), config, problem_, limits_.arch, limits_);
}

void CandidateMaker::finish_launch(Candidate& candidate) const {
  const Config& config = candidate.result.config;
  const Family& family = families_.of(config);
  const ResourceFacts* facts = &candidate.artifact->facts;
  candidate.geometry = launch_geometry(family, config, problem_, limits_, facts);
  candidate.probe_geometry = launch_geometry(family, config, probe_, limits_, facts);
  if (part_) {
    candidate.part_geometry = launch_geometry(family, config, *part_, limits_, facts);
  }
  if (candidate.small_geometry) {
    candidate.small_geometry = launch_geometry(family, config, small_, limits_, facts);
  }
}

/// Whether the configuration can run on the small problem with the machine code for the problem
/// itself.
bool CandidateMaker::has_small_launch(const Family& family, const Config& config) const {
  if (find_obstacle(family, config, small_, limits_)) {
    return false;
  }
  const auto request = [&](const Problem& problem) {
    return compile_request(family, config, problem, limits_.arch, limits_);
  };
  return is_same_code(request(small_), request(problem_));
}

}  // namespace fatune
