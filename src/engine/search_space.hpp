#pragma once

#include "engine/candidate_maker.hpp"
#include "engine/problem_plan.hpp"
#include "search/candidate_source.hpp"

namespace fatune {

/// The configurations of a plan that a search may try: the planned ones, then the audited ones. The
/// audited ones and the one whose time is needed are required.
[[nodiscard]] SearchSpace make_search_space(const ProblemPlan& plan, CandidateMaker& maker);

}  // namespace fatune
