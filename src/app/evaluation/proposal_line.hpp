#pragma once

#include <string>
#include <string_view>

#include "attention/problem.hpp"
#include "core/config.hpp"
#include "plan/family.hpp"

namespace fatune {

/// What a line proposes: {"id": any, "config": "(...)"} or {"id": any, "parameters": {...}}.
struct ProposalLine {
  std::string id;  ///< as JSON; "null" without one
  Config config;
};

/// Parameters that are bound to the problem may be left out. Error(usage) for what is no such
/// object, for a property or a parameter that there is none of or that is missing, and for a
/// configuration that cannot be read. That the family can build it is not its concern.
[[nodiscard]] ProposalLine read_proposal(const Family& family, const Problem& problem,
                                         std::string_view line);

/// The id of a line, as JSON, whatever else is wrong with it; "null" when it has none.
[[nodiscard]] std::string proposal_id(std::string_view line);

}  // namespace fatune
