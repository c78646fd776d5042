#pragma once

#include "engine/candidate_maker.hpp"
#include "engine/problem_plan.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// What a search may try of a plan: its configurations, then those that are audited. The latter,
/// and the one whose time is needed, are required. `maker` must outlive it.
[[nodiscard]] SearchSpace make_search_space(const ProblemPlan& plan, CandidateMaker& maker);

}  // namespace fatune
